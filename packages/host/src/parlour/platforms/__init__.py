"""One folder per platform: manifest, adapter, client, decode, encode, api, actions, samples."""
