"""Operations on the data of a Host: backup, restore, and checks for problems."""
