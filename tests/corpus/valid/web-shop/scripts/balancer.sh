echo balancer
