"""The screens of the app; each shows values read elsewhere and knows no store."""
