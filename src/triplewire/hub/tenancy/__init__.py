"""Tenancy: each tenant is a hub with a store of its own, and none takes the service from the others (X9).

`tenants` opens their hubs and keeps them; `quotas` bound what one has and causes, `pace` how often it asks, `slots` how
many files it has under way.
"""
