"""What networks of hubs cost: messages next to flooding and to one hub, and deciding where a document goes."""
