"""Tells a channel how far things are, or, where no webhook is known, the log of the job."""

import json
import os
import sys
import urllib.error
import urllib.request

about = os.environ.get("ORDITO_COMPONENT") or "the service"
text = os.environ.get("CONFIG_text") or f"{os.environ['ORDITO_PHASE']} of {about}: done so far"
webhook = os.environ.get("CONFIG_webhook")
if not webhook:
    print(f"notification: {text}")
    sys.exit()
request = urllib.request.Request(webhook, json.dumps({"text": text}).encode(), {"Content-Type": "application/json"})
try:
    with urllib.request.urlopen(request, timeout=10):
        print("sent")
except urllib.error.HTTPError as error:
    sys.exit(f"Slack: the server refused the message with status {error.code}")
except (OSError, ValueError):
    sys.exit("Slack: the server could not be reached; see whether webhook in the config is right")
