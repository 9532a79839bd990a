// What a plan can be asked for, as forms need it. Written by `python -m tools.web_types`; a test sees that it is up to
// date.

export interface RequestField {
  name: string;
  /** How it is given: `flag`, `number`, `text`, `choice`, or several of them, as a list or by names. */
  kind: "flag" | "number" | "text" | "choice" | "texts" | "texts-by-name" | "numbers-by-name";
  about: string;
  required: boolean;
  /** Its value where none is given. */
  initial: unknown;
  choices: readonly string[];
  /** What it names: nodes, instances, inputs. */
  names: readonly string[];
  /** Whether it is what the request is about. */
  main: boolean;
  least: number | null;
  most: number | null;
}

export interface RequestForm {
  about: string;
  fields: readonly RequestField[];
  /** Whether it takes values of inputs. */
  inputs: boolean;
}

export const REQUESTS: Readonly<Record<string, RequestForm>> = {
 "deploy": {
  "about": "To deploy a service. The first deployment makes the ensemble.",
  "fields": [
   {
    "name": "force",
    "kind": "flag",
    "about": "Skip nothing: carry out everything again, done or not.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "allow_changed",
    "kind": "flag",
    "about": "Also lose what somebody else has changed.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "allow_large",
    "kind": "flag",
    "about": "Plan even more than 200,000 instances, or 100,000 relationship operations of one requirement.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "substitute",
    "kind": "texts-by-name",
    "about": "The topology that substitutes a node, if several can.",
    "required": false,
    "initial": {},
    "choices": [],
    "names": [
     "node"
    ],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "allow",
    "kind": "texts",
    "about": "Accept this finding as a warning: wrong-source, wrong-member, number-for-text, unused-artifact.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "prune",
    "kind": "choice",
    "about": "When to remove what is no longer in the template: after all else has succeeded, or first (default: it is kept).",
    "required": false,
    "initial": "",
    "choices": [
     "early",
     "last",
     "no"
    ],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "replace",
    "kind": "texts",
    "about": "Replace the instances of this node even if no change requires it.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [
     "node"
    ],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "max_unavailable",
    "kind": "text",
    "about": "How many instances of a node may be down at one time, if the node does not say it (100%: all; default: no limit, but where all would be down, one of up to seven, a quarter of more).",
    "required": false,
    "initial": "",
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "skip_heal",
    "kind": "flag",
    "about": "Change instances that are not ok without repairing them first.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "check",
    "kind": "flag",
    "about": "First check what stays unchanged, and repair what is not ok.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "allow_data_loss",
    "kind": "texts",
    "about": "The data of this node or instance may be lost.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [
     "node"
    ],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "hooks",
    "kind": "choice",
    "about": "Which lifecycle steps to carry out: those of what changes, all, or none.",
    "required": false,
    "initial": "changed",
    "choices": [
     "all",
     "changed",
     "none"
    ],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "strict",
    "kind": "flag",
    "about": "Refuse a lifecycle step that asks for a rollback if something before it cannot be undone.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "node",
    "kind": "texts",
    "about": "Deploy only this node.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [
     "node"
    ],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "instance",
    "kind": "texts",
    "about": "Deploy only this instance.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "skip_new",
    "kind": "flag",
    "about": "Create no new instances.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "forget_input",
    "kind": "texts",
    "about": "Forget the value that an earlier command has given for this input.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [
     "input"
    ],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "reset_counts",
    "kind": "flag",
    "about": "Use the numbers of instances in the template, not those set by scale.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   }
  ],
  "inputs": true
 },
 "upgrade": {
  "about": "To change what runs into what a service says. A named service replaces that of the ensemble, until the user's part of ensemble.yaml names another one than now. What is no longer in the template is removed last.",
  "fields": [
   {
    "name": "force",
    "kind": "flag",
    "about": "Skip nothing: carry out everything again, done or not.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "allow_changed",
    "kind": "flag",
    "about": "Also lose what somebody else has changed.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "allow_large",
    "kind": "flag",
    "about": "Plan even more than 200,000 instances, or 100,000 relationship operations of one requirement.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "substitute",
    "kind": "texts-by-name",
    "about": "The topology that substitutes a node, if several can.",
    "required": false,
    "initial": {},
    "choices": [],
    "names": [
     "node"
    ],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "allow",
    "kind": "texts",
    "about": "Accept this finding as a warning: wrong-source, wrong-member, number-for-text, unused-artifact.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "prune",
    "kind": "choice",
    "about": "When to remove what is no longer in the template: after all else has succeeded, or first (default: last).",
    "required": false,
    "initial": "",
    "choices": [
     "early",
     "last",
     "no"
    ],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "replace",
    "kind": "texts",
    "about": "Replace the instances of this node even if no change requires it.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [
     "node"
    ],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "max_unavailable",
    "kind": "text",
    "about": "How many instances of a node may be down at one time, if the node does not say it (100%: all; default: no limit, but where all would be down, one of up to seven, a quarter of more).",
    "required": false,
    "initial": "",
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "skip_heal",
    "kind": "flag",
    "about": "Change instances that are not ok without repairing them first.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "check",
    "kind": "flag",
    "about": "First check what stays unchanged, and repair what is not ok.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "allow_data_loss",
    "kind": "texts",
    "about": "The data of this node or instance may be lost.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [
     "node"
    ],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "hooks",
    "kind": "choice",
    "about": "Which lifecycle steps to carry out: those of what changes, all, or none.",
    "required": false,
    "initial": "changed",
    "choices": [
     "all",
     "changed",
     "none"
    ],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "strict",
    "kind": "flag",
    "about": "Refuse a lifecycle step that asks for a rollback if something before it cannot be undone.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "node",
    "kind": "texts",
    "about": "Upgrade only this node.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [
     "node"
    ],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "instance",
    "kind": "texts",
    "about": "Upgrade only this instance.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "skip_new",
    "kind": "flag",
    "about": "Create no new instances.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "forget_input",
    "kind": "texts",
    "about": "Forget the value that an earlier command has given for this input.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [
     "input"
    ],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "reset_counts",
    "kind": "flag",
    "about": "Use the numbers of instances in the template, not those set by scale.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   }
  ],
  "inputs": true
 },
 "rollback": {
  "about": "To go back to an earlier revision.",
  "fields": [
   {
    "name": "revision",
    "kind": "number",
    "about": "The revision to go back to; 0 for the last one before.",
    "required": false,
    "initial": 0,
    "choices": [],
    "names": [],
    "main": true,
    "least": 1,
    "most": null
   },
   {
    "name": "strict",
    "kind": "flag",
    "about": "Refuse, before anything runs, if not everything can be undone.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "max_unavailable",
    "kind": "text",
    "about": "How many instances of a node may be down at one time, if the node does not say it (100%: all; default: no limit, but where all would be down, one of up to seven, a quarter of more).",
    "required": false,
    "initial": "",
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "without_steps",
    "kind": "flag",
    "about": "Go back even if lifecycle steps of the revision were undone since then; they are not carried out again.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "allow_data_loss",
    "kind": "texts",
    "about": "The data of this node or instance may be lost.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [
     "node"
    ],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "allow_changed",
    "kind": "flag",
    "about": "Also lose what somebody else has changed.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   }
  ],
  "inputs": false
 },
 "undeploy": {
  "about": "To remove everything that exists, except what is protected and what this ensemble has not created.",
  "fields": [
   {
    "name": "force",
    "kind": "flag",
    "about": "Skip nothing: carry out everything again, done or not.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "include_protected",
    "kind": "flag",
    "about": "Also remove what is protected (ordito.protected).",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "include_unmanaged",
    "kind": "flag",
    "about": "Also remove what this ensemble did not create.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "allow_changed",
    "kind": "flag",
    "about": "Also lose what somebody else has changed.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "node",
    "kind": "texts",
    "about": "Remove only this node.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [
     "node"
    ],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "instance",
    "kind": "texts",
    "about": "Remove only this instance.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   }
  ],
  "inputs": false
 },
 "scale": {
  "about": "To have more or fewer instances of nodes, and of everything they host.",
  "fields": [
   {
    "name": "names",
    "kind": "texts",
    "about": "Nodes and groups to scale by some instances.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [
     "node"
    ],
    "main": true,
    "least": null,
    "most": null
   },
   {
    "name": "counts",
    "kind": "numbers-by-name",
    "about": "How many instances nodes and groups are to have.",
    "required": false,
    "initial": {},
    "choices": [],
    "names": [
     "node"
    ],
    "main": true,
    "least": null,
    "most": null
   },
   {
    "name": "delta",
    "kind": "number",
    "about": "How many instances more, or fewer if negative (default: the increment of a scaling policy, else 1).",
    "required": false,
    "initial": null,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "scale_compute",
    "kind": "flag",
    "about": "Scale the Compute that hosts a node, with everything on it, or only the node.",
    "required": false,
    "initial": true,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "remove",
    "kind": "texts",
    "about": "An instance to remove.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [
     "instance"
    ],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "include_protected",
    "kind": "flag",
    "about": "Also remove what is protected (ordito.protected).",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "include_unmanaged",
    "kind": "flag",
    "about": "Also remove what this ensemble did not create.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "allow_changed",
    "kind": "flag",
    "about": "Also lose what somebody else has changed.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "allow_large",
    "kind": "flag",
    "about": "Plan even more than 200,000 instances, or 100,000 relationship operations of one requirement.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   }
  ],
  "inputs": false
 },
 "heal": {
  "about": "To heal instances of what was deployed last.",
  "fields": [
   {
    "name": "names",
    "kind": "texts",
    "about": "Instances, and nodes with one instance.",
    "required": true,
    "initial": null,
    "choices": [],
    "names": [
     "instance"
    ],
    "main": true,
    "least": null,
    "most": null
   },
   {
    "name": "scope",
    "kind": "choice",
    "about": "How far to heal: the host too if it is not ok itself, never the host, or the whole host at once.",
    "required": false,
    "initial": "auto",
    "choices": [
     "auto",
     "host",
     "instance"
    ],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "reinstall",
    "kind": "flag",
    "about": "Replace the instances without checking, repairing or restarting them first.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "allow_data_loss",
    "kind": "texts",
    "about": "The data of this node or instance may be lost.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [
     "node"
    ],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "allow_changed",
    "kind": "flag",
    "about": "Also lose what somebody else has changed.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   }
  ],
  "inputs": false
 },
 "stop": {
  "about": "To stop instances.",
  "fields": [
   {
    "name": "names",
    "kind": "texts",
    "about": "Nodes and instances.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [
     "node",
     "instance"
    ],
    "main": true,
    "least": null,
    "most": null
   },
   {
    "name": "all",
    "kind": "flag",
    "about": "Stop everything that is deployed.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   }
  ],
  "inputs": false
 },
 "start": {
  "about": "To start instances.",
  "fields": [
   {
    "name": "names",
    "kind": "texts",
    "about": "Nodes and instances.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [
     "node",
     "instance"
    ],
    "main": true,
    "least": null,
    "most": null
   },
   {
    "name": "all",
    "kind": "flag",
    "about": "Start everything that is deployed.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   }
  ],
  "inputs": false
 },
 "restart": {
  "about": "To stop and start instances in one job.",
  "fields": [
   {
    "name": "names",
    "kind": "texts",
    "about": "Nodes and instances.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [
     "node",
     "instance"
    ],
    "main": true,
    "least": null,
    "most": null
   },
   {
    "name": "all",
    "kind": "flag",
    "about": "Restart everything that is deployed.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   }
  ],
  "inputs": false
 },
 "check": {
  "about": "To run the check of instances.",
  "fields": [
   {
    "name": "names",
    "kind": "texts",
    "about": "Nodes and instances; none for all.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [
     "node",
     "instance"
    ],
    "main": true,
    "least": null,
    "most": null
   }
  ],
  "inputs": false
 },
 "discover": {
  "about": "To run the discover operation of instances.",
  "fields": [
   {
    "name": "names",
    "kind": "texts",
    "about": "Nodes and instances; none for all.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [
     "node",
     "instance"
    ],
    "main": true,
    "least": null,
    "most": null
   }
  ],
  "inputs": false
 },
 "run": {
  "about": "To run one operation on instances of what was deployed last.",
  "fields": [
   {
    "name": "operation",
    "kind": "text",
    "about": "Interface.operation, or its name alone if only one interface has it.",
    "required": true,
    "initial": null,
    "choices": [],
    "names": [],
    "main": true,
    "least": null,
    "most": null
   },
   {
    "name": "node",
    "kind": "texts",
    "about": "On instances of this node.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [
     "node"
    ],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "instance",
    "kind": "texts",
    "about": "On this instance.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "type",
    "kind": "texts",
    "about": "On instances of nodes of this type, or of a derived type.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "dependency_order",
    "kind": "flag",
    "about": "First on what others depend on; without it on all at once.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "override",
    "kind": "flag",
    "about": "Let -i and -I replace values that the template gives.",
    "required": false,
    "initial": false,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   }
  ],
  "inputs": true
 },
 "workflow": {
  "about": "To run a workflow of the deployed template.",
  "fields": [
   {
    "name": "name",
    "kind": "text",
    "about": "The workflow of the template.",
    "required": true,
    "initial": null,
    "choices": [],
    "names": [],
    "main": true,
    "least": null,
    "most": null
   }
  ],
  "inputs": true
 },
 "retry": {
  "about": "To carry out what a job has not done.",
  "fields": [
   {
    "name": "job",
    "kind": "text",
    "about": "The job, or the beginning of its id; nothing for the latest.",
    "required": false,
    "initial": "",
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "allow_data_loss",
    "kind": "texts",
    "about": "Nodes and instances whose data may be lost.",
    "required": false,
    "initial": [],
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   }
  ],
  "inputs": false
 },
 "skip": {
  "about": "To carry out what a job has not done, without a step that somebody has done by hand.",
  "fields": [
   {
    "name": "job",
    "kind": "text",
    "about": "The job, or the beginning of its id.",
    "required": true,
    "initial": null,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   },
   {
    "name": "step",
    "kind": "text",
    "about": "The id of the step that was done by hand.",
    "required": true,
    "initial": null,
    "choices": [],
    "names": [],
    "main": false,
    "least": null,
    "most": null
   }
  ],
  "inputs": false
 }
};

/** How the job runs. */
export const OPTIONS: readonly RequestField[] = [
 {
  "name": "parallel",
  "kind": "number",
  "about": "How many operations run at one time.",
  "required": false,
  "initial": 64,
  "choices": [],
  "names": [],
  "main": false,
  "least": 1,
  "most": 10000
 },
 {
  "name": "on_failure",
  "kind": "choice",
  "about": "What a failure does to the rest; usual: what the workflow does.",
  "required": false,
  "initial": "usual",
  "choices": [
   "abort",
   "continue",
   "rollback",
   "usual"
  ],
  "names": [],
  "main": false,
  "least": null,
  "most": null
 },
 {
  "name": "attempts",
  "kind": "number",
  "about": "How often a failing operation is tried in all, if its node does not say it (default: once, or three times if it ends with exit code 75).",
  "required": false,
  "initial": 0,
  "choices": [],
  "names": [],
  "main": false,
  "least": 0,
  "most": 1000
 },
 {
  "name": "interval",
  "kind": "number",
  "about": "The pause before the second attempt of an operation; it doubles with each further one (default: 1).",
  "required": false,
  "initial": null,
  "choices": [],
  "names": [],
  "main": false,
  "least": 0,
  "most": null
 },
 {
  "name": "host_concurrency",
  "kind": "number",
  "about": "How many operations run at one time on a Compute instance without ordito.concurrency.",
  "required": false,
  "initial": 1,
  "choices": [],
  "names": [],
  "main": false,
  "least": 1,
  "most": 10000
 },
 {
  "name": "timeout",
  "kind": "number",
  "about": "Seconds after which the job is cancelled.",
  "required": false,
  "initial": null,
  "choices": [],
  "names": [],
  "main": false,
  "least": null,
  "most": null
 },
 {
  "name": "message",
  "kind": "text",
  "about": "The message of the commit, instead of a generated one.",
  "required": false,
  "initial": "",
  "choices": [],
  "names": [],
  "main": false,
  "least": null,
  "most": null
 }
];
