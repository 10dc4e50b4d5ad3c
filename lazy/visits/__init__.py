"""One visit to a place, from the plan to the end of the round."""
