"""Model budgets, prices and the catalogue of providers. Calling a model is done by `parlour.providers`."""
