"""What an operator does with a Host's data: back it up, bring it back, and find out what is wrong."""
