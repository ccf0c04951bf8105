"""Provider calls: failures, retries, circuit breakers, prices and the background event loop."""
