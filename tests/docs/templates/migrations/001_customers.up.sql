CREATE TABLE customers (name TEXT);
