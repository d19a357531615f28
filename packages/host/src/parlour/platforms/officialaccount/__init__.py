"""Official accounts of WeChat, which reply within a call or by customer-service messages."""
