"""Who belongs: invited, admitted, revoked, and what is known of each."""
