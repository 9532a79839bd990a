echo broker
