"""Ansible playbooks, run by `ansible-playbook` as a process. Nothing of Ansible is imported here; what runs inside its
process is in `inside/`."""
