"""Provider calls: failures, retries, circuit breakers, prices and the background event loop.

The package exports nothing, because some modules load asyncio or tenacity: import from the modules.
"""
