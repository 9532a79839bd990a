echo postgres
