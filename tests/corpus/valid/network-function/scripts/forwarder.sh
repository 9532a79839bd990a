echo forwarder
