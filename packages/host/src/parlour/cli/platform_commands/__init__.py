"""Commands about chat platforms. `parlour platform probe` tries a bot on its real platform."""
