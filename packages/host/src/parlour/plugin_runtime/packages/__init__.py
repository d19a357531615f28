"""What a plugin is installed from: folders, archives, git. Reads and copies; installs nothing."""
