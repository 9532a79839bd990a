// What the API takes and gives. Written by `python -m tools.web_types`; a test sees that it is up to date.

/** A value of a template or of an operation, which may be anything. */
export type Value = unknown;

/** What the server runs on, and what it is made of. */
export interface AboutData {
  ordito: string;
  python: string;
  system: string;
  database: string;
  disk_free: number;
  disk_size: number;
  parts: ComponentData[];
  store: string;
}

/** A service account: programs act as it, with tokens. */
export interface AccountData {
  name: string;
  created: string;
  tokens: TokenData[];
}

/** Something that exists already, and is to be recorded as the next instance of a node. */
export interface Adopting {
  digest?: string;
  node: string;
  attributes?: Record<string, string>;
}

/** An operation that now counts as carried out; empty for one that no longer does. */
export interface AppliedChange {
  changeId?: string;
  digest?: string;
}

/** That exactly the plan with this digest is to be carried out. */
export interface Applying {
  digest: string;
}

/** A decision about a plan. */
export interface ApprovalData {
  who: string;
  decision: string;
  comment: string;
  at: string;
}

/** An approval or a rejection of exactly the plan with this digest. */
export interface ApprovalDecision {
  decision: "approve" | "reject";
  digest: string;
  comment?: string;
}

/** The approvals that a plan needs, and those that it has. */
export interface ApprovalsData {
  wanted: WantedApprovals[];
  given: ApprovalData[];
}

/** What a CSAR says of itself. */
export interface ArchiveData {
  author: string;
  version: string;
  meta: Record<string, string>;
  further: (Record<string, string>)[];
}

/** What is asked of an ensemble: the parameters of a use case, without the ensemble itself. */
export interface Asked {
}

/** What a plan was asked for, to ask for it once more. */
export interface AskedAgain {
  request: Record<string, Value>;
  environment: string | null;
  options: Record<string, Value>;
  apply: string;
  bind: string;
  comment: string;
  withheld: string[];
}

/** To run the check of instances. */
export interface AskedCheck {
  workflow: "check";
  names?: string[];
}

/** To deploy a service. The first deployment makes the ensemble. */
export interface AskedDeploy {
  workflow: "deploy";
  force?: boolean;
  allow_changed?: boolean;
  allow_large?: boolean;
  substitute?: Record<string, string>;
  allow?: string[];
  prune?: "early" | "last" | "no";
  replace?: string[];
  max_unavailable?: number | string;
  skip_heal?: boolean;
  check?: boolean;
  allow_data_loss?: string[];
  hooks?: "all" | "changed" | "none";
  strict?: boolean;
  node?: string[];
  instance?: string[];
  skip_new?: boolean;
  forget_input?: string[];
  reset_counts?: boolean;
  inputs?: Record<string, Value>;
  input_texts?: Record<string, string>;
  package?: string;
}

/** To run the discover operation of instances. */
export interface AskedDiscover {
  workflow: "discover";
  names?: string[];
}

/** To heal instances of what was deployed last. */
export interface AskedHeal {
  workflow: "heal";
  names: string[];
  scope?: "auto" | "host" | "instance";
  reinstall?: boolean;
  allow_data_loss?: string[];
  allow_changed?: boolean;
}

/** How the job runs. */
export interface AskedOptions {
  parallel?: number;
  on_failure?: "abort" | "continue" | "rollback" | "usual";
  attempts?: number;
  interval?: number | null;
  host_concurrency?: number;
  timeout?: number | null;
  message?: string;
}

/** A plan on a server, from its request to its job. */
export interface AskedPlan {
  id: string;
  project: string;
  ensemble: string;
  workflow: string;
  state: string;
  by: AuthorData;
  created: string;
  changed: string;
  expires: string;
  apply: string;
  bind: string;
  comment: string;
  digest: string;
  fresh: string;
  totals: Totals | null;
  risks: string[];
  findings: FindingData[];
  approvals: ApprovalsData;
  queue: QueueData | null;
  applied_by: string;
  job: string | null;
  job_status: string;
  problem: Trouble | null;
  allowed: string[];
}

/** To stop and start instances in one job. */
export interface AskedRestart {
  workflow: "restart";
  names?: string[];
  all?: boolean;
}

/** To carry out what a job has not done. */
export interface AskedRetry {
  workflow: "retry";
  job?: string;
  allow_data_loss?: string[];
}

/** To go back to an earlier revision. */
export interface AskedRollback {
  workflow: "rollback";
  revision?: number;
  strict?: boolean;
  max_unavailable?: number | string;
  without_steps?: boolean;
  allow_data_loss?: string[];
  allow_changed?: boolean;
}

/** To run one operation on instances of what was deployed last. */
export interface AskedRun {
  workflow: "run";
  operation: string;
  node?: string[];
  instance?: string[];
  type?: string[];
  dependency_order?: boolean;
  override?: boolean;
  inputs?: Record<string, Value>;
  input_texts?: Record<string, string>;
}

/** To have more or fewer instances of nodes, and of everything they host. */
export interface AskedScale {
  workflow: "scale";
  names?: string[];
  counts?: Record<string, number>;
  delta?: number | null;
  scale_compute?: boolean;
  remove?: string[];
  include_protected?: boolean;
  include_unmanaged?: boolean;
  allow_changed?: boolean;
  allow_large?: boolean;
}

/** To carry out what a job has not done, without a step that somebody has done by hand. */
export interface AskedSkip {
  workflow: "skip";
  job: string;
  step: string;
}

/** To start instances. */
export interface AskedStart {
  workflow: "start";
  names?: string[];
  all?: boolean;
}

/** To stop instances. */
export interface AskedStop {
  workflow: "stop";
  names?: string[];
  all?: boolean;
}

/** To remove everything that exists, except what is protected and what this ensemble has not created. */
export interface AskedUndeploy {
  workflow: "undeploy";
  force?: boolean;
  include_protected?: boolean;
  include_unmanaged?: boolean;
  allow_changed?: boolean;
  node?: string[];
  instance?: string[];
}

/** To change what runs into what a service says. A named service replaces that of the ensemble, until the user's part of ensemble.yaml names another one than now. What is no longer in the template is removed last. */
export interface AskedUpgrade {
  workflow: "upgrade";
  force?: boolean;
  allow_changed?: boolean;
  allow_large?: boolean;
  substitute?: Record<string, string>;
  allow?: string[];
  prune?: "early" | "last" | "no";
  replace?: string[];
  max_unavailable?: number | string;
  skip_heal?: boolean;
  check?: boolean;
  allow_data_loss?: string[];
  hooks?: "all" | "changed" | "none";
  strict?: boolean;
  node?: string[];
  instance?: string[];
  skip_new?: boolean;
  forget_input?: string[];
  reset_counts?: boolean;
  inputs?: Record<string, Value>;
  input_texts?: Record<string, string>;
  package?: string;
}

/** To run a workflow of the deployed template. */
export interface AskedWorkflow {
  workflow: "workflow";
  name: string;
  inputs?: Record<string, Value>;
  input_texts?: Record<string, string>;
}

/** One attempt of a step. */
export interface AttemptData {
  began: string;
  ended: string;
  state: string;
  message: string;
  exit_code: number | null;
}

/** Which rows are wanted, the newest first. */
export interface AuditFields {
  limit?: number;
  after?: string;
  fields?: string;
  actor?: string;
  project?: string;
  action?: string;
  outcome?: string;
  since?: string | null;
  until?: string | null;
}

/** The end of the audit log: who keeps it elsewhere can see later whether the log still holds it. */
export interface AuditHead {
  rows: number;
  head: string;
}

/** Who has asked: a user, a service account, a schedule, or a git source. */
export interface AuthorData {
  kind: string;
  name: string;
}

/** What the provider sends back. It may send more, which nobody needs. */
export interface BackFields {
  state?: string;
  code?: string;
  error?: string;
  iss?: string;
}

/** All roles in a project. */
export interface Bindings {
  bindings: RoleBinding[];
}

/** A block of a catalogue as a job has pinned it. ``fqn`` and ``version`` name it, ``digest`` is that of all its files, ``root`` that of the pin that holds them ("": that of the service itself), ``folder`` its folder there. A block that runs an operation of a component (``is_operation``) has no scripts. ``undone_once`` is the node state to which a component has to come again, where it comes up again, before what the block did is undone. */
export interface Block {
  fqn: string;
  version: string;
  digest: string;
  root?: string;
  folder?: string;
  execute?: BlockScript | null;
  undo?: BlockScript | null;
  is_operation?: boolean;
  undone_once?: string;
}

/** What a block runs: the file, relative to the block's pinned folder, and the kind of artifact that an executor must understand (full type name); ``timeout`` in seconds, None where the block says nothing. */
export interface BlockScript {
  artifact: string;
  processor: string;
  dependencies?: string[];
  timeout?: number | null;
}

/** That a job was asked to end. */
export interface CancelledData {
  at: string;
  by: string;
  now: boolean;
  because: string;
}

/** How a job is to end. */
export interface Cancelling {
  now?: boolean;
}

/** A value that has changed; None for no value. */
export interface CauseData {
  what: string;
  before: Value;
  after: Value;
  declared: string;
}

/** Why something happens to an instance, if something else depends on that. */
export type ChangeCause = "" | "protected" | "to heal" | "unmanaged";

/** The instances that are changed, in columns. */
export interface ChangeColumns {
  id: string[];
  box: number[];
  change: string;
}

/** The change of one instance. */
export interface ChangeData {
  symbol: string;
  class: string;
  instance: string;
  reason: string;
  declared: string;
  differences: Difference[];
  cause: ChangeCause;
}

/** What administrators have set through the API; null is as ``server.yaml`` says. */
export interface ChangedSettings {
  banner?: string | null;
  jobs?: JobSettings | null;
  limits?: Limits | null;
  egress?: string[] | null;
}

/** About changes of a job. */
export interface ChangesAsked {
  job?: string;
  limit?: number;
  after?: number;
  printed?: boolean;
}

/** The result of the check of a host. */
export interface Checked {
  name: string;
  unreachable: string;
  has: Record<string, string>;
  os: Record<string, string>;
  tools: string[];
  differences: string[];
  accepted: string[];
  found_again: boolean;
  remains: string[];
  open_keys: string[];
}

/** Hosts that are to be reached. */
export interface CheckedHosts {
  names?: string[];
  environment?: string | null;
  accept_new?: boolean;
}

/** What the check of each host has found. */
export interface CheckedHostsData {
  format: "ordito.hosts-check/1";
  hosts: Checked[];
}

/** What was found about such a text. */
export interface CheckedText {
  valid: boolean;
  diagnostics: FindingData[];
}

/** Something that jobs on both sides of a fork have changed. */
export interface Clash {
  target: string;
  jobs: [string, string];
}

/** A code. */
export interface CodeFields {
  code: string;
}

/** What differs from a service. */
export interface ComparedData {
  diff: DiffData;
  against: string;
  diagnostics: FindingData[];
}

/** What the ensemble is compared with: what upgrading it to a service would do. */
export interface Comparing {
  request?: AskedUpgrade;
  environment?: string | null;
}

/** Something of others that the server is made of. */
export interface ComponentData {
  name: string;
  version: string;
  licence: string;
  place: string;
}

/** What a task did, and what that changed. */
export interface ConfigChange {
  changeId?: string;
  previousId?: string;
  target?: string;
  instance?: string;
  operation?: string;
  step?: string;
  outcome?: string;
  changed?: boolean | null;
  exitCode?: number | null;
  attempts?: number;
  digest?: string;
  inputs?: Record<string, Value>;
  changes?: Record<string, EntityChange>;
  reason?: string;
  start?: string;
  seconds?: number | null;
  summary?: string;
  output?: string[];
  warnings?: string[];
  hook?: HookDone | null;
  condition?: Record<string, Value>;
  undoes?: string;
}

/** Damage of the files of an ensemble, what to do about it, and whether a waiting job can go on only after that. */
export interface Damage {
  message: string;
  hint: string;
  blocks: boolean;
}

/** A difference between two declarations of a node; null for what one of them does not have. */
export interface DeclaredDifference {
  what: string;
  before: Value;
  after: Value;
}

/** A node that is not declared in the same way. */
export interface DeclaredNodeDiff {
  node: string;
  change: string;
  declared: string;
  differences: DeclaredDifference[];
}

/** A row of the audit log. */
export interface DeedData {
  number: number;
  time: string;
  principal: string;
  by: string;
  address: string;
  request: string;
  action: string;
  project: string;
  ensemble: string;
  object: string;
  outcome: string;
  detail: string;
  hash: string;
}

/** What makes a plan longer: ``hosts`` are those on which operations wait for each other, with the number of those that may run there at one time; without any such limit it would have ``otherwise`` waves. */
export interface Delays {
  hosts: Record<string, number>;
  otherwise: number;
}

/** One event that is posted to a webhook. */
export interface DeliveryData {
  id: string;
  event: number;
  type: string;
  state: "done" | "waiting";
  attempts: number;
  next: string | null;
  outcome: string;
  created: string;
}

/** Which deliveries are wanted. */
export interface DeliveryFields {
  limit?: number;
  after?: string;
  fields?: string;
  state?: "" | "done" | "waiting";
}

/** A requirement and what it contributes to the status: the instances of its target with their effective statuses, and the contribution, "" if no instance of the target is wanted. */
export interface Dependency {
  requirement: string;
  target: string;
  relationship: string;
  optional: boolean;
  instances: Record<string, string>;
  contribution: string;
}

/** Nothing besides the name in the path. */
export interface DescribeQuery {
  name?: string;
  events?: number;
}

/** An instance. */
export interface DescribedInstance {
  format: string;
  kind: string;
  instance: string;
  node: string;
  type: string;
  host: string;
  place: string;
  index: number;
  state: string;
  local: string;
  effective: string;
  optional: boolean;
  note: string;
  status_reason: string;
  with_host: boolean;
  created: string;
  last_config_change: string;
  last_state_change: string;
  properties: Record<string, Value>;
  attributes: Record<string, Value>;
  requirements: Dependency[];
  operations: Operated[];
  events: TaskLine[];
  next: string[];
  purposes: string[];
  is_away?: boolean;
  times?: Record<string, string>;
}

/** A node template. */
export interface DescribedNode {
  format: string;
  kind: string;
  node: string;
  type: string;
  declared: string;
  description: string;
  status: string;
  wanted: number | null;
  kept: KeptCount | null;
  optional: boolean;
  protected: boolean;
  orphaned: boolean;
  requirements: Record<string, string>;
  operations: Record<string, string>;
  metadata: Record<string, string>;
  instances: Record<string, InstanceOfNode>;
  events: TaskLine[];
  next: string[];
  purposes: string[];
}

/** All differences. New names may be added to the format; a change of meaning gets a new number. */
export interface DiffData {
  format: "ordito.diff/1";
  service: string;
  environment: string;
  different: boolean;
  inputs: InputDiff[];
  nodes: NodeDiffData[];
  hooks: HookDiff[];
  totals: Record<string, number>;
  unchanged: number;
  takes_over: boolean;
  warnings: string[];
  unfinished?: string;
}

/** What the ensemble is compared with. */
export interface DiffQuery {
  to?: string;
  environment?: string | null;
}

/** One difference between what was carried out and what is wanted: ``what``, from what to what (None if there was, or will be, none), as it may be shown; ``declared`` is its place, ``file:line:column``. ``about`` tells kinds apart, and ``name`` is that of an input. */
export interface Difference {
  what: string;
  before?: Value;
  after?: Value;
  declared?: string;
  about?: DifferenceKind;
  name?: string;
}

/** What a difference is about, if something else depends on that. */
export type DifferenceKind = "" | "input" | "not counted" | "property" | "request" | "unknown";

/** Whether something is only looked at. */
export interface DryQuery {
  dry?: boolean;
}

/** A change of records by hand, which a job of its own has recorded. */
export interface EditData {
  job: string | null;
  commit?: string;
  commits?: Record<string, string>;
  not_committed?: string[];
  not_shared?: string;
  instances?: Record<string, string>;
  instance?: string;
  forgotten?: string[];
  remains?: string[];
}

/** What is to be different. */
export interface EnsembleChange {
  labels: Record<string, string | null>;
}

/** An ensemble that the server knows. */
export interface EnsembleData {
  project: string;
  name: string;
  created: string;
  exists: boolean;
  holder: string | null;
  allowed: string[];
  labels: Record<string, string>;
  package: string | null;
  package_labels: string[];
  summary: EnsembleSummary | null;
  problem: string;
  drift: RememberedDrift | null;
  last_job: EnsembleJob | null;
  plans: Record<string, number>;
  follows: boolean;
}

/** The job of an ensemble that ran last. */
export interface EnsembleJob {
  id: string;
  workflow: string;
  status: string;
  start: string;
  by: string;
}

/** In short how an ensemble is. */
export interface EnsembleSummary {
  format: "ordito.ensembles-summary/1";
  service: string;
  environment: string;
  status: string;
  revision: number;
  instances: Record<string, number>;
  drifted: number;
  last_job: LastJob | null;
  job: OpenJobData | null;
  waiting_notices: number;
  attention: string[];
}

/** Which ensembles are wanted. */
export interface EnsemblesQuery {
  label?: string[];
  q?: string;
  status?: string;
  attention?: boolean;
  limit?: number;
  after?: string;
  sort?: "attention" | "name" | "status";
  fields?: string;
}

/** The change of an instance, a link or an end of a relationship: only the values that differ from before. ``unlinked`` says that the record of a link or an end was removed, ``forgotten`` the same of an instance; an instance that is ``unlinked`` is replaced: the other fields are its whole new record. In ``applied``, ``failed``, ``told`` and ``before_failure`` an empty entry says that the operation no longer counts, in ``drift`` that the value is again what it was; attributes and outputs are those that were set. ``note`` held the reason of a status in the third format: it is read, and no longer written. */
export interface EntityChange {
  unlinked?: boolean;
  forgotten?: boolean;
  template?: string;
  index?: number;
  relationship?: string;
  source?: string;
  target?: string;
  host?: string;
  state?: string;
  local?: string;
  created?: string;
  statusReason?: StatusReason;
  withHost?: boolean;
  note?: string;
  form?: string;
  lastConfigChange?: string;
  lastStateChange?: string;
  applied?: Record<string, AppliedChange>;
  failed?: Record<string, string>;
  told?: Record<string, string>;
  drift?: Record<string, string>;
  beforeFailure?: Record<string, string>;
  attributes?: Record<string, Value>;
  outputs?: Record<string, Record<string, Value>>;
}

/** The value of an input, and where it comes from. */
export interface EvaluatedInput {
  value: Value;
  origin: string;
}

/** A remembered evaluation of a condition. */
export interface EvaluationData {
  at: string;
  holds: boolean;
  values: Record<string, Value>;
}

/** An event that a trigger was told of. */
export interface EventOfTrigger {
  number: number;
  event: string;
  entity: string;
  at: string;
  said: string;
  done: boolean;
  job: string | null;
}

/** Events, and where they go on. */
export interface EventPage {
  items: Value[];
  next: string;
}

/** Which events of a job are wanted. */
export interface EventsFields {
  after?: number;
}

/** All that is recorded, as ``ordito state export`` writes it: sensitive values are not shown. */
export interface ExportedState {
  state: Record<string, Value>;
}

/** How much was printed by a step, on an instance, or by an operation. */
export interface Facet {
  name: string;
  bytes: number;
  pieces: number;
  first: number;
}

/** Why nothing was done. */
export interface Failure {
  code: string;
  message: string;
  hint?: string;
  next?: NextStep[];
}

/** Fields of a request: of its body, or of its query. */
export interface Fields {
}

/** A file of the service that is not the same. */
export interface FileDiff {
  file: string;
  change: string;
}

/** A finding about a document; the place is null where there is none. */
export interface FindingData {
  code: string;
  severity: string;
  message: string;
  file: string | null;
  line: number | null;
  column: number | null;
  end_line: number | null;
  end_column: number | null;
  hint: string;
  related: RelatedPlace[];
}

/** Records that are to be removed; what they are about stays as it is. */
export interface Forgetting {
  digest?: string;
  names?: string[];
  force?: boolean;
}

/** Jobs that two clones ran after the same job, ``after`` ("" for none), and that no later job joins. */
export interface Fork {
  after: string;
  jobs: string[];
}

/** An ensemble that was found. */
export interface FoundEnsemble {
  project: string;
  name: string;
}

/** An instance that was found. */
export interface FoundInstance {
  project: string;
  ensemble: string;
  instance: string;
  node: string;
  type: string;
}

/** A line in which the text was found. */
export interface FoundLine {
  step: string;
  offset: number;
  line: number;
  text: string;
}

/** A package that was found. */
export interface FoundPackage {
  project: string;
  digest: string;
  labels: string[];
}

/** Something in which nothing begins now. */
export interface FreezeData {
  project: string;
  ensemble: string;
  reason: string;
  by: string;
  since: string;
  until: string | null;
}

/** Whose approvals count: who has one of the roles, or is in one of the groups; else all who may approve. */
export interface GivenBy {
  roles?: string[];
  groups?: string[];
}

/** A rule: plans that it is about need ``count`` approvals. */
export interface GivenRule {
  when?: GivenWhen;
  count?: number;
  by?: GivenBy;
  author_may?: boolean;
}

/** A text that the user gives to an ensemble, byte for byte. */
export interface GivenText {
  text: string;
}

/** Which plans a rule is about: those that fit all that is said, by any of the names. */
export interface GivenWhen {
  workflows?: string[];
  environments?: string[];
  risks?: Risk[];
}

/** A relationship other than hosting. */
export interface GraphConnection {
  source: string;
  target: string;
  requirement: string;
  type: string;
}

/** The nodes of a service, which of them host which, and how they are connected. */
export interface GraphData {
  format: "ordito.graph/1";
  name: string;
  nodes: GraphNode[];
  connections: GraphConnection[];
  groups: Record<string, string>;
  left_out: number;
}

/** A node template: ``host`` is the name of the node that hosts it, or "", ``groups`` are its groups. */
export interface GraphNode {
  name: string;
  type: string;
  host: string;
  groups: string[];
}

/** How much of the graph is wanted. */
export interface GraphQuery {
  boxes?: number;
}

/** A group of users, who have the roles that are bound to it. */
export interface GroupData {
  name: string;
  members: string[];
}

/** All members of a group, in place of those that it had. */
export interface GroupMembers {
  members: string[];
}

/** A lock that clones share, and whose holder seems to be gone. */
export interface HeldLockData {
  repository: string;
  holder: string;
  owner: LockOwnerData;
  digest: string;
}

/** A lifecycle step of a plan. ``id`` is the step's in the service (``Service.hooks``), and unique there; ``component`` the node template, "" for the module. ``condition`` is its text, "" for none. ``timeout`` is in seconds and covers ``execute``. ``on_failure`` is abort, continue or rollback. ``files`` are the digests of the files and folders of the service's archive that its config names, by their paths. ``digest`` stands for all that decides what it does, as far as the documents say it: a step that was carried out with this digest in an earlier attempt at the same revision is not carried out again. ``declared`` is its place, ``file:line:column``. */
export interface Hook {
  id: string;
  block: Block;
  transition: Transition;
  moment: Moment;
  component?: string;
  description?: string;
  condition?: string;
  timeout?: number;
  on_failure?: string;
  files?: Record<string, string>;
  digest?: string;
  declared?: string;
}

/** A lifecycle step that would be carried out; ``component`` is "" for the whole service. */
export interface HookDiff {
  id: string;
  phase: string;
  component: string;
  fqn: string;
}

/** A lifecycle step of the job with its block, and its result with the values that it was run with. */
export interface HookDone {
  step: Hook;
  result?: HookResult;
}

/** What a lifecycle step was carried out with, and its result: everything that its undo is told. Values may be sensitive, and are encrypted where they are written. ``condition`` says how the condition was decided: its text, its result, and the values that it refers to, as they may be shown. */
export interface HookResult {
  config?: Record<string, Value>;
  context?: Record<string, Value>;
  outputs?: Record<string, Value>;
  condition?: Record<string, Value>;
}

/** What comes of a push. */
export interface HookTaken {
  looks: boolean;
}

/** A host of the inventory. */
export interface HostEntry {
  name: string;
  address: string;
  state: string;
  labels: Record<string, string>;
  os: Record<string, string>;
  has: Record<string, string>;
  left: Record<string, string>;
  owners: HostOwner[];
  why: string;
  since: string;
  remains: string[];
}

/** The hosts of an inventory, and its path. */
export interface HostListData {
  format: "ordito.hosts-list/1";
  inventory: string;
  hosts: HostEntry[];
}

/** An instance, of the ensemble in a directory, that has a host. */
export interface HostOwner {
  instance: string;
  ensemble: string;
}

/** About the hosts of the inventory. */
export interface HostsAsked {
  names?: string[];
  environment?: string | null;
}

/** A job that was to make a revision and has not. */
export interface IncompleteRevision {
  job: string;
  workflow: string;
  status: string;
  revision: number;
  complete: number;
  repairs: boolean;
  back: number;
}

/** A topology input whose value differs from the deployed one, both as they may be shown; None for no value. */
export interface InputDiff {
  name: string;
  before: Value;
  after: Value;
}

/** Values that a service would be deployed with, besides those that the ensemble has. */
export interface InputsGiven {
  package?: string;
  environment?: string | null;
  inputs?: Record<string, Value>;
  input_texts?: Record<string, string>;
  forget_input?: string[];
}

/** Of which service the inputs are wanted. */
export interface InputsQuery {
  package?: string;
  environment?: string | null;
}

/** The instances in columns, in the order of their creation. */
export interface InstanceColumns {
  id: string[];
  box: number[];
  state: string;
  status: string;
  local: string;
  host: number[];
}

/** One instance in ``ordito.status/1``; its id is its key there. */
export interface InstanceData {
  node: string;
  type?: string;
  state?: string;
  local?: string;
  effective?: string;
  host?: string;
  attributes?: Record<string, Value>;
  failed?: Record<string, string>;
  orphaned?: boolean;
  optional?: boolean;
  drift?: boolean;
  note?: string;
  status_reason?: string;
  with_host?: boolean;
  form?: string;
  before_failure?: string[];
}

/** An instance in a list. */
export interface InstanceLine {
  id: string;
  node: string;
  type: string;
  state: string;
  status: string;
  local: string;
  host: string;
  failed: string[];
  orphaned: boolean;
  drift: boolean;
  note: string;
}

/** An instance of a node that is described. */
export interface InstanceOfNode {
  state: string;
  local: string;
  effective: string;
  place?: string;
}

/** Nothing besides the name in the path. */
export interface InstanceQuery {
}

/** Which instances are wanted. */
export interface InstancesAsked {
  limit?: number;
  after?: string;
  q?: string;
  node?: string;
  state?: string;
  status?: string;
  all?: boolean;
}

/** Instances, by their names. */
export interface InstancesData {
  format: "ordito.instances/1";
  items: InstanceLine[];
  next: string | null;
  total: number;
}

/** About one job. */
export interface JobAsked {
  job?: string;
  most?: number | null;
  printed?: boolean;
}

/** What was asked of a job. */
export interface JobAskedData {
  job: string;
  asked: string;
}

/** What the tasks of a job did, and what that changed. */
export interface JobChangesData {
  format: "ordito.jobs-changes/1";
  job: string;
  items: ConfigChange[];
  next: number | null;
  last: number;
  complete: boolean;
}

/** The header of a record: what it says about its job as a whole. */
export interface JobHead {
  changeId: string;
  previousId?: string;
  mergedIds?: string[];
  workflow?: string;
  retries?: string;
  cause?: string;
  status?: string;
  rollback?: string;
  remains?: string[];
  again?: string[];
  handled?: boolean;
  arguments?: Record<string, Value>;
  began?: string;
  ended?: string;
  seconds?: number;
  ticks?: number;
  environment?: string;
  options?: Record<string, Value>;
  user?: string;
  by?: string;
  origin?: string;
  approvedBy?: string[];
  machine?: string;
  service?: string;
  revision?: number;
  base?: string;
  succeeded?: number;
  failed?: number;
  noOp?: number;
  skipped?: number;
  changes?: number;
  summary?: string;
  commits?: Record<string, string>;
  notCommitted?: string[];
}

/** The line of a job in `jobs.tsv`; ``seconds`` is None where it holds no number, as for an unclosed job. */
export interface JobLine {
  id: string;
  workflow: string;
  outcome: string;
  start: string;
  seconds: number | null;
  summary: string;
}

/** All jobs, the oldest first. */
export interface JobListData {
  format: "ordito.jobs-list/1";
  jobs: JobLine[];
  problems: string[];
}

/** How jobs run. */
export interface JobSettings {
  parallel?: number;
  resume?: "always" | "never" | "server";
  keep?: number;
  keep_bytes?: number;
}

/** Steps of a job. */
export interface JobStepsData {
  format: "ordito.jobs-steps/1";
  job: string;
  workflow: string;
  status: string;
  items: StepData[];
  next: number | null;
  counts: Record<string, number>;
}

/** Which jobs are wanted. */
export interface JobsFields {
  limit?: number;
  status?: string;
  workflow?: string;
  ensemble?: string;
  q?: string;
  after?: string;
  by?: string;
  since?: string | null;
  until?: string | null;
  sort?: "newest" | "oldest";
  fields?: string;
}

/** A number of instances that was set by `scale`: it is valid as long as the template asks for what it asked for then, ``over``. ``job`` has set it, "" for the one that the plan is for. */
export interface KeptCount {
  count: number;
  over: number;
  job: string;
}

/** A job of an ensemble. */
export interface KnownJob {
  project: string;
  ensemble: string;
  id: string;
  workflow: string;
  outcome: string;
  start: string;
  seconds: number | null;
  summary: string;
  by: string;
}

/** The newest jobs of all ensembles that one may see, or the oldest. */
export interface KnownJobs {
  items: KnownJob[];
  missing: string[];
  next: string | null;
}

/** The job that ran last: its id, its workflow, and how it ended. */
export interface LastJob {
  id: string;
  workflow: string;
  status: string;
}

/** When a secret was set through a server, and by whom. */
export interface LastSetData {
  by: string;
  at: string;
}

/** What a request may use. */
export interface Limits {
  requests?: number;
  unknown?: number;
  body?: number;
  package?: number;
  project_packages?: number;
  project_ensembles?: number;
  query_seconds?: number;
  query_memory?: number;
  plan_seconds?: number;
  plan_memory?: number;
}

/** A link with which a user signs in once, within five minutes. */
export interface LinkData {
  user: string;
  link: string;
}

/** A part of a list. */
export interface ListPartAccountData {
  items: AccountData[];
  next: string | null;
}

/** A part of a list. */
export interface ListPartAskedPlan {
  items: AskedPlan[];
  next: string | null;
}

/** A part of a list. */
export interface ListPartChangeData {
  items: ChangeData[];
  next: string | null;
}

/** A part of a list. */
export interface ListPartDeedData {
  items: DeedData[];
  next: string | null;
}

/** A part of a list. */
export interface ListPartDeliveryData {
  items: DeliveryData[];
  next: string | null;
}

/** A part of a list. */
export interface ListPartEnsembleData {
  items: EnsembleData[];
  next: string | null;
}

/** A part of a list. */
export interface ListPartFreezeData {
  items: FreezeData[];
  next: string | null;
}

/** A part of a list. */
export interface ListPartGroupData {
  items: GroupData[];
  next: string | null;
}

/** A part of a list. */
export interface ListPartPackageLine {
  items: PackageLine[];
  next: string | null;
}

/** A part of a list. */
export interface ListPartPlannedEdge {
  items: PlannedEdge[];
  next: string | null;
}

/** A part of a list. */
export interface ListPartProjectData {
  items: ProjectData[];
  next: string | null;
}

/** A part of a list. */
export interface ListPartScheduleData {
  items: ScheduleData[];
  next: string | null;
}

/** A part of a list. */
export interface ListPartSessionData {
  items: SessionData[];
  next: string | null;
}

/** A part of a list. */
export interface ListPartStepRow {
  items: StepRow[];
  next: string | null;
}

/** A part of a list. */
export interface ListPartTokenData {
  items: TokenData[];
  next: string | null;
}

/** A part of a list. */
export interface ListPartUserData {
  items: UserData[];
  next: string | null;
}

/** A part of a list. */
export interface ListPartWebhookData {
  items: WebhookData[];
  next: string | null;
}

/** A workflow in the list. */
export interface ListedWorkflow {
  name: string;
  command: string[];
  description?: string;
  inputs?: string[];
  place?: string;
  replaces?: string;
}

/** Who held the lock that clones share. */
export interface LockOwnerData {
  user: string;
  machine: string;
  pid: number;
  job: string;
  place: string;
}

/** A part of what the operations of a job printed. */
export interface LogData {
  pieces: LogPiece[];
  begin: number;
  next: number;
  complete: boolean;
  size: number;
}

/** About the log of a job. */
export interface LogFacetsAsked {
  job?: string;
  q?: string;
  limit?: number;
}

/** By what a log can be narrowed, those first that printed most. */
export interface LogFacetsData {
  format: "ordito.jobs-log-facets/1";
  size: number;
  steps: Facet[];
  instances: Facet[];
  operations: Facet[];
  more: number;
}

/** Which part of a log is wanted. */
export interface LogFields {
  after?: number;
  before?: number | null;
  limit?: number;
  step?: string;
  instance?: string;
  operation?: string;
  wait?: number;
}

/** Lines of a log in which a text was found. */
export interface LogFoundData {
  format: "ordito.jobs-log-found/1";
  items: FoundLine[];
  next: number | null;
}

/** What a step has printed. */
export interface LogPiece {
  step: string;
  text: string;
  offset: number;
}

/** What is looked for. */
export interface LogSearchAsked {
  q: string;
  job?: string;
  step?: string;
  instance?: string;
  operation?: string;
  after?: number;
  limit?: number;
}

/** Whether a sign-in is confirmed. */
export interface LoginAnswer {
  user: string;
  token: string | null;
  expires: string;
}

/** What wants to sign in. */
export interface LoginData {
  id: string;
  name: string;
  address: string;
  expires: string;
}

/** How long to wait for the confirmation. */
export interface LoginFields {
  wait?: number;
}

/** A sign-in that waits to be confirmed. */
export interface MadeLogin {
  id: string;
  code: string;
  secret: string;
  seconds: number;
}

/** A new token. This is the only time that it is shown. */
export interface MadeToken {
  id: string;
  name: string;
  expires: string;
  created: string;
  used: string | null;
  role: string;
  projects: string[];
  token: string;
}

/** A new webhook. */
export interface MadeWebhook {
  id: string;
  url: string;
  events: string[];
  ensembles: string[];
  paused: boolean;
  by: string;
  created: string;
  secret: string | null;
}

/** Who asks, and what that is permitted. */
export interface MeData {
  kind: string;
  name: string;
  project: string;
  by: string;
  server: string[];
  projects: Record<string, string[]>;
  sign_out: string;
}

/** Whether a lifecycle step comes before or after the operations of the resources. */
export type Moment = "after" | "before";

/** A node that has a new name in the template. */
export interface Moving {
  digest?: string;
  old: string;
  new: string;
}

/** A service account to be made. */
export interface NewAccount {
  name: string;
}

/** An ensemble: a new one of a package, or one that exists already on the machine of the server. */
export interface NewEnsemble {
  name: string;
  package?: string;
  path?: string;
  labels?: Record<string, string>;
}

/** That nothing is to begin, and why. */
export interface NewFreeze {
  reason: string;
  hours?: number | null;
}

/** A command that wants to sign in. */
export interface NewLogin {
  name?: string;
}

/** Something that has happened. */
export interface NewNotice {
  event: string;
  entity: string;
  values?: Record<string, Value>;
  input_texts?: Record<string, string>;
}

/** How the package is to be called. */
export interface NewPackage {
  label?: string;
}

/** A new password; ``old`` is needed where there is one. */
export interface NewPassword {
  new: string;
  old?: string;
}

/** A project to be made. */
export interface NewProject {
  name: string;
  description?: string;
}

/** A schedule to be made. */
export interface NewSchedule {
  name: string;
  cron: string;
  zone?: string;
  request: AskedDeploy | AskedUpgrade | AskedRollback | AskedUndeploy | AskedScale | AskedHeal | AskedStop | AskedStart | AskedRestart | AskedCheck | AskedDiscover | AskedRun | AskedWorkflow | AskedRetry | AskedSkip;
  environment?: string | null;
  options?: AskedOptions;
  apply?: "ask" | "auto";
  paused?: boolean;
}

/** A text, byte for byte. */
export interface NewText {
  text: string;
}

/** A token to be made, for as many days as it ``expires`` after. */
export interface NewTokenFields {
  name: string;
  expires?: number;
  role?: string;
  projects?: string[];
}

/** A user to be made; a one-time link lets them set a password. */
export interface NewUser {
  name: string;
  admin?: boolean;
  auditor?: boolean;
}

/** A webhook to be made. */
export interface NewWebhook {
  url: string;
  secret?: string | null;
  events?: string[];
  ensembles?: string[];
}

/** A command that helps, and what it is for. */
export interface NextStep {
  purpose: string;
  words?: string[];
  more?: string[];
  meant?: Record<string, string>;
  method?: string;
  path?: string;
}

/** The instances of a node that are changed in the same way for the same reason. */
export interface NodeDiffData {
  node: string;
  class: string;
  instances: string[];
  reason: string;
  declared: string;
  causes: CauseData[];
  operations: string[];
}

/** A node in a list. */
export interface NodeLine {
  name: string;
  type: string;
  host: string;
  requires: string[];
  status: string;
  instances: Record<string, number>;
  optional: boolean;
  orphaned: boolean;
}

/** Which nodes are wanted. */
export interface NodesAsked {
  limit?: number;
  after?: string;
  q?: string;
  status?: string;
}

/** Nodes, by their names. */
export interface NodesData {
  format: "ordito.nodes/1";
  items: NodeLine[];
  next: string | null;
  total: number;
}

/** A notice: something that has happened to an instance. */
export interface NoticeData {
  number: number;
  event: string;
  entity: string;
  at: number;
  values: Record<string, Value>;
  state: string;
  job: string;
  dropped: string;
  triggers: TriggerOfNotice[];
}

/** A notice that waits to be handled. */
export interface NoticeStored {
  number: number;
}

/** The inbox of an ensemble, the latest notice first. */
export interface NoticesData {
  notices: NoticeData[];
}

/** A job whose end is not recorded: it runs, or was interrupted. */
export interface OpenJobData {
  job: string;
  workflow: string;
  began: number;
  done: number;
  steps: number;
  holder: string;
  rolling_back: boolean;
  outcome: string;
  by?: string;
  origin?: string;
  approved_by?: string[];
}

/** An operation that was carried out or has failed; ``change`` is its changeId, ``at`` when it began, in UTC (to the second). */
export interface Operated {
  operation: string;
  change: string;
  failed: boolean;
  at: string;
}

/** A type that declares or refines a part, and where. */
export interface OriginData {
  type: string | null;
  place: string | null;
}

/** A node of which all ``instances`` that are up are down at one time while the plan is carried out, and why. */
export interface Outage {
  node: string;
  instances: number;
  reason: string;
}

/** The outputs of the service, null for those without a value; sensitive ones are not shown. */
export interface OutputsData {
  outputs: Record<string, Value>;
  caveat: string;
}

/** A package, and what is in it. */
export interface PackageData {
  digest: string;
  labels: string[];
  name: string;
  version: string;
  size: number;
  nodes: number;
  by: string;
  created: string;
  summary: PackageSummary;
}

/** A file in an archive. */
export interface PackageFile {
  format: "ordito.packages-file/1";
  file: string;
  size: number;
  text: string | null;
  executable: boolean;
}

/** An input of a service. */
export interface PackageInput {
  name: string;
  type: string;
  required: boolean;
  default: Value;
  sensitive: boolean;
  description: string;
  constraints: (Record<string, Value>)[];
}

/** Values to check against the inputs of a service. */
export interface PackageInputs {
  inputs?: Record<string, Value>;
}

/** A package in the list. */
export interface PackageLine {
  digest: string;
  labels: string[];
  name: string;
  version: string;
  size: number;
  nodes: number;
  by: string;
  created: string;
}

/** A node template. */
export interface PackageNode {
  name: string;
  type: string;
  host: string;
}

/** A policy. */
export interface PackagePolicy {
  name: string;
  type: string;
}

/** What is in an archive of a service. */
export interface PackageSummary {
  format: "ordito.packages-show/1";
  name: string;
  version: string;
  author: string;
  description: string;
  entry: string;
  inputs: PackageInput[];
  outputs: string[];
  nodes: PackageNode[];
  types: PackageType[];
  workflows: string[];
  policies: PackagePolicy[];
  files: string[];
  diagnostics: FindingData[];
}

/** A type that the service defines itself. */
export interface PackageType {
  kind: string;
  name: string;
}

/** Which packages are wanted. */
export interface PackagesQuery {
  limit?: number;
  after?: string;
  fields?: string;
  q?: string;
}

/** Which part of a list is wanted. */
export interface PageFields {
  limit?: number;
  after?: string;
  fields?: string;
}

/** A part of a type: what it has depends on its section. */
export interface PartData {
  section?: string;
  name: string;
  description: string;
  type?: string;
  required?: boolean;
  default?: Value;
  value?: Value;
  constraints?: (Record<string, Value>)[];
  status?: string;
  metadata?: Record<string, string>;
  capability?: string;
  node?: string;
  relationship?: string;
  occurrences?: Value[];
  valid_source_types?: string[];
  implementation?: string;
  outputs?: Record<string, Value[]>;
  file?: string;
  origins: OriginData[];
  properties?: Record<string, PartData>;
  attributes?: Record<string, PartData>;
  inputs?: Record<string, PartData>;
  operations?: Record<string, PartData>;
  notifications?: Record<string, PartData>;
}

/** Which part of a plan is wanted. */
export interface PartFields {
  limit?: number;
  after?: string;
  fields?: string;
  part?: "" | "changes" | "edges" | "head" | "steps";
}

/** A box: a node, or several nodes of one type that stand beside each other. Places and sizes are in pixels. */
export interface PictureBox {
  id: string;
  kind: string;
  title: string;
  type: string;
  parent: string;
  x: number;
  y: number;
  w: number;
  h: number;
  nodes: number;
  folded: boolean;
  columns: number;
  counts: Record<string, number>;
}

/** Relationships from one box to another. */
export interface PictureEdge {
  source: string;
  target: string;
  requirement: string;
  type: string;
  count: number;
}

/** Which plans are wanted, the newest first. */
export interface PlanFields {
  limit?: number;
  after?: string;
  fields?: string;
  state?: string;
  by?: string;
}

/** A plan but for its lists. */
export interface PlanHead {
  service: string;
  workflow: string;
  environment: string;
  back_to: number | null;
  counts: Record<string, PlannedCount>;
  part: boolean;
  left_out: ChangeData[];
  made_by: Record<string, string>;
  chosen: (Record<string, string>)[];
  totals: Totals;
  held: Delays | null;
  outages: Outage[];
  warnings: string[];
  unfinished: string;
  kept: ChangeData[];
  kept_counts: Record<string, KeptCount>;
  losing: Record<string, string>;
  not_permitted: string[];
  drifted: string[];
  limited: string[];
  risks: Risk[];
  inputs: PlannedInput[];
}

/** How the job of a plan ended, for its command. */
export interface PlanReport {
  job: string;
  report: Record<string, Value>;
}

/** What a plan changes, as a picture. */
export interface PlanTopologyData {
  format: "ordito.plan-topology/1";
  service: string;
  nodes: number;
  size: [number, number];
  boxes: PictureBox[];
  edges: PictureEdge[];
  changes: ChangeColumns;
}

/** What is asked for. */
export interface PlanWanted {
  request: AskedDeploy | AskedUpgrade | AskedRollback | AskedUndeploy | AskedScale | AskedHeal | AskedStop | AskedStart | AskedRestart | AskedCheck | AskedDiscover | AskedRun | AskedWorkflow | AskedRetry | AskedSkip;
  environment?: string | null;
  options?: AskedOptions;
  apply?: "ask" | "auto";
  bind?: "exact" | "latest";
  comment?: string;
}

/** How many instances of a node are wanted, and where that comes from, "" for the usual place. */
export interface PlannedCount {
  count: number;
  origin: string;
}

/** The order of two steps, and why. */
export interface PlannedEdge {
  before: string;
  after: string;
  reason: string;
}

/** An input of the service: the value that was deployed last and the one of the plan, without secrets; null for none. */
export interface PlannedInput {
  name: string;
  before: Value;
  after: Value;
}

/** About the policies. */
export interface PoliciesAsked {
  name?: string;
}

/** The policies of a service, and the notices that wait to be handled. */
export interface PoliciesData {
  format: "ordito.policies/1";
  policies: Record<string, PolicyData>;
  waiting: NoticeData[];
}

/** A policy. */
export interface PolicyData {
  type: string;
  targets: string[];
  nodes: string[];
  enforced: boolean;
  triggers: Record<string, TriggerData>;
  description?: string;
  properties?: Record<string, Value>;
}

/** The items of one class of a pool that are not done. */
export interface PoolQueueData {
  pool: string;
  class: string;
  waiting: number;
  queued: number;
  running: number;
  attention: number;
  oldest: number;
  held: boolean;
  workers: boolean;
}

/** A reason not to trust the records. */
export interface Problem {
  code: string;
  change: string;
  message: string;
}

/** Why something was not done (RFC 9457). */
export interface ProblemData {
  type: string;
  title: string;
  status: number;
  code: string;
  detail: string;
  hint: string;
  next: NextStep[];
  diagnostics: FindingData[];
  request_id: string;
}

/** What is to be different. */
export interface ProjectChange {
  description: string;
}

/** A project. */
export interface ProjectData {
  name: string;
  description: string;
  created: string;
  allowed: string[];
}

/** Where a plan waits. */
export interface QueueData {
  place: number;
  holder: string | null;
  frozen: string | null;
}

/** The record of a job, with all its tasks. */
export interface RecordedJobData {
  format: string;
  job: JobHead;
  status?: Record<string, Value>;
  form?: Record<string, Value>;
  skipped?: Record<string, string>;
  parts?: string[];
  changes: ConfigChange[];
}

/** The records of instances by id, as in `ensemble.yaml`. */
export interface RecordsData {
  format: "ordito.state-show/1";
  instances: Record<string, Value>;
}

/** A place that belongs to a finding; all but the message is null where it is not known. */
export interface RelatedPlace {
  message: string;
  file: string | null;
  line: number | null;
  column: number | null;
  end_line: number | null;
  end_column: number | null;
}

/** A host that was taken back, and the instance that had it. */
export interface Released {
  name: string;
  owners: HostOwner[];
}

/** Hosts that are to be taken back. */
export interface ReleasedHosts {
  names?: string[];
  environment?: string | null;
  force?: boolean;
}

/** The hosts that were taken back, and from whom. */
export interface ReleasedHostsData {
  format: "ordito.hosts-release/1";
  released: Released[];
}

/** The same, with the moment. */
export interface RememberedDrift {
  workflow: string;
  plan: string;
  job: string | null;
  drift: boolean;
  differs: string[];
  unwell: string[];
  totals: Totals | null;
  at: string;
}

/** What goes with an ensemble that is removed from a server. */
export interface RemovalData {
  instances: number;
  plans: number;
  approvals: number;
  schedules: number;
  sources: number;
  rules: number;
  freezes: number;
  roles: number;
  open_plans: string[];
  digest: string;
}

/** What may be lost. */
export interface RemoveQuery {
  forget?: number;
  digest?: string;
}

/** Records that are to be removed, whether what they are about exists or not. */
export interface Removing {
  digest?: string;
  names: string[];
}

/** Files of deployed services that were put back, and those that were taken as they are. */
export interface RenewedData {
  format: "ordito.state-renew/1";
  renewed: string[];
  accepted: string[];
}

/** Deployed files that were changed since. */
export interface Renewing {
  as_they_are?: boolean;
}

/** What the records of all jobs give, compared with what is recorded. */
export interface ReplayData {
  format: "ordito.jobs-replay/1";
  jobs: number;
  problems: Problem[];
  forks: Fork[];
  clashes: Clash[];
  differs: StatusDifference[];
  more: number;
  unreadable: string;
  caveat: string;
  state?: Record<string, Value>;
  written: boolean;
  joined: string;
  agrees: boolean;
  commit?: string;
  commits?: Record<string, string>;
  not_committed?: string[];
  not_shared?: string;
}

/** What is to be done with the result. */
export interface ReplayQuery {
  write?: boolean;
  until?: string;
  first?: number | null;
}

/** What a change of records would do. Nothing is changed yet. */
export interface ReviewedEdit {
  intent: string;
  lines: string[];
  asks: boolean;
  digest: string;
  diagnostics: FindingData[];
}

/** Which revisions are compared. */
export interface RevisionDiffAsked {
  before: number;
  after: number;
}

/** What differs between two revisions by what was deployed with them, whatever has happened to instances. */
export interface RevisionDiffData {
  format: "ordito.revisions-diff/1";
  before: number;
  after: number;
  inputs: InputDiff[];
  nodes: DeclaredNodeDiff[];
  unchanged: number;
  files: FileDiff[];
}

/** A revision in the list. */
export interface RevisionLine {
  revision: number;
  job: string;
  workflow: string;
  ended: string;
  status: string;
  service: string;
  main: string;
  inputs: Record<string, Value>;
  is_current: boolean;
  was_removed: boolean;
}

/** The revisions, the newest first. */
export interface RevisionsData {
  format: "ordito.revisions/1";
  revisions: RevisionLine[];
  is_partial: boolean;
  partial: string;
  repairs: boolean;
  back: number;
}

/** A kind of risk. */
export type Risk = "lossy" | "outage" | "protected" | "removes" | "replaces" | "runs-anything";

/** Who has a role in the project, or in one ensemble of it. */
export interface RoleBinding {
  kind: "account" | "group" | "user";
  who: string;
  role: string;
  ensemble?: string;
}

/** All rules of a project or an ensemble, in place of those that it had. */
export interface Rules {
  rules?: GivenRule[];
}

/** What is to be different; what is left out stays as it is. Who changes a schedule answers for it from then on. */
export interface ScheduleChange {
  cron?: string | null;
  zone?: string | null;
  request?: AskedDeploy | AskedUpgrade | AskedRollback | AskedUndeploy | AskedScale | AskedHeal | AskedStop | AskedStart | AskedRestart | AskedCheck | AskedDiscover | AskedRun | AskedWorkflow | AskedRetry | AskedSkip | null;
  options?: AskedOptions | null;
  apply?: "ask" | "auto" | null;
  paused?: boolean | null;
}

/** A schedule. */
export interface ScheduleData {
  id: string;
  name: string;
  cron: string;
  zone: string;
  workflow: string;
  request: Record<string, Value>;
  inputs: string[];
  environment: string | null;
  apply: "ask" | "auto";
  paused: boolean;
  by: string;
  created: string;
  next: string | null;
  last: string | null;
  said: string;
  plan: string | null;
  options: AskedOptions;
}

/** What is searched for. */
export interface SearchFields {
  q: string;
}

/** What was found, at most 20 of each kind. */
export interface SearchResult {
  ensembles: FoundEnsemble[];
  instances: FoundInstance[];
  jobs: SearchedJob[];
  packages: FoundPackage[];
  complete: boolean;
}

/** A job that was found. */
export interface SearchedJob {
  project: string;
  ensemble: string;
  job: string;
  workflow: string;
  outcome: string;
  start: string;
}

/** The value of a secret. It is sealed when it arrives, and never given back. */
export interface Secret {
  value: string;
}

/** The names of the secrets that are kept. */
export interface SecretNamesData {
  format: "ordito.secrets-list/1";
  secrets: string[];
  last?: Record<string, LastSetData>;
}

/** The server: its version, and how to sign in. */
export interface ServerData {
  ordito: string;
  api: string[];
  sign_in: string[];
  time: string;
  body_limit: number;
  isolation: string;
  banner: string;
  provider: string;
}

/** About the deployed service. */
export interface ServiceAsked {
  revision?: number;
}

/** About a file of the deployed service. */
export interface ServiceFileAsked {
  path?: string;
  revision?: number;
}

/** About the nodes of the deployed service. */
export interface ServiceGraphAsked {
  boxes?: number;
  revision?: number;
}

/** An input of a service, as an ensemble has it. */
export interface ServiceInput {
  input: PackageInput;
  value: Value;
  remembered: boolean;
  written: boolean;
  findings: FindingData[];
}

/** What a service takes, with the values that it would be deployed with. */
export interface ServiceInputsData {
  format: "ordito.service-inputs/1";
  service: string;
  environment: string;
  environments: string[];
  inputs: ServiceInput[];
  valid: boolean;
  diagnostics: FindingData[];
}

/** About a type that the deployed service can use, or a part of one. */
export interface ServiceTypeAsked {
  name?: string;
  revision?: number;
}

/** A session of a browser. */
export interface SessionData {
  id: string;
  user: string;
  address: string;
  agent: string;
  since: string;
  seen: string;
  current: boolean;
}

/** How the server is set, as far as its users notice; what is secret in its settings is not among it. */
export interface SettingsData {
  banner: string;
  isolation: string;
  warning: string;
  jobs: JobSettings;
  limits: Limits;
  egress: string[];
  changed: ChangedSettings;
}

/** An input of a workflow; ``default`` is as written, None if there is none, or if it must not be shown. */
export interface ShownInput {
  name: string;
  type: string;
  required?: boolean;
  default?: Value;
  description?: string;
  sensitive?: boolean;
}

/** A step of a workflow, for people. */
export interface ShownStep {
  name: string;
  target?: string;
  relationship?: string;
  operation_host?: string;
  filter?: string;
  activities?: string[];
  on_success?: string[];
  on_failure?: string[];
}

/** A user with a password, or the secret of a one-time link. */
export interface SignIn {
  user?: string;
  password?: string;
  link?: string;
}

/** The repository that an ensemble follows. */
export interface SourceData {
  repository: string;
  branch: string;
  path: string;
  apply: "ask" | "auto";
  every: number;
  hook: string;
  secret: string | null;
  revision: string;
  looked: string | null;
  problem: string;
  by: string;
  created: string;
}

/** A repository that is to be followed. */
export interface SourceFields {
  repository: string;
  branch: string;
  path?: string;
  apply?: "ask" | "auto";
  every?: number;
}

/** About the user's part of the ensemble. */
export interface SpecAsked {
  environment?: string | null;
}

/** The user's part of `ensemble.yaml`, merged and evaluated, without secrets. */
export interface SpecData {
  format: "ordito.spec/1";
  service: string;
  environment: string;
  environments: string[];
  inputs: Record<string, EvaluatedInput>;
  variables: Record<string, Value>;
  lock: string;
  files: string[];
  diagnostics: FindingData[];
}

/** Where to go afterwards. */
export interface StartFields {
  return?: string;
}

/** About the records of instances. */
export interface StateAsked {
  names?: string[];
}

/** About the status. */
export interface StatusAsked {
  all?: boolean;
  outputs?: boolean;
}

/** What exists, with the status of each instance. */
export interface StatusData {
  format: "ordito.status/1";
  service: string;
  environment: string;
  status: string;
  revision: number;
  attempt: IncompleteRevision | null;
  last_job: LastJob | null;
  job: OpenJobData | null;
  instances: Record<string, InstanceData>;
  outputs: Record<string, Value>;
  waiting_notices: number;
  failed_steps?: string[];
  damage?: Damage;
  kept_counts: Record<string, KeptCount>;
  half_removed?: boolean;
  caveat?: string;
}

/** A place below ``status``, and its value by the records and in the file; None where there is none. */
export interface StatusDifference {
  path: string;
  recorded: Value;
  found: Value;
}

/** Why an instance has its status, where the status alone does not say enough. */
export type StatusReason = "" | "adopted" | "found absent" | "replaced" | "rolled back" | "scaled in" | "unanswered" | "unreachable";

/** A step of a job. */
export interface StepData {
  id: string;
  instance: string;
  operation: string;
  far: string;
  state: string;
  began: string;
  ended: string;
  attempts: AttemptData[];
  most: number;
  next: string;
  message: string;
  exit_code: number | null;
  tail?: string[];
  because: string;
  reason: string;
  declared: string;
  artifact: string;
  host: string;
  waits_for: string[];
  warnings: string[];
}

/** A step of a plan in its list: an operation, or what only joins others. */
export interface StepRow {
  id: string;
  joins: boolean;
  wave: number;
  instance: string;
  operation: string;
  far: string;
  runs_on: string;
  artifact: string;
  condition: string;
  no_op: boolean;
  delegated: boolean;
  reason: string;
  declared: string;
  hook: string;
  phase: string;
}

/** About steps of a job. */
export interface StepsAsked {
  job?: string;
  state?: string;
  instance?: string;
  q?: string;
  limit?: number;
  after?: number;
  printed?: boolean;
}

/** The store over which a server serves. */
export interface StoreStateData {
  store: string;
  workers: WorkerData[];
  queues: PoolQueueData[];
  stuck: string[];
  takeovers: number;
  problems: string[];
}

/** What is followed. */
export interface StreamFields {
  topic?: string[];
  after?: string[];
  wait?: number;
}

/** The line of a task in `jobs.tsv`; ``seconds`` is None where it holds no number. */
export interface TaskLine {
  id: string;
  job: string;
  operation: string;
  target: string;
  outcome: string;
  changed: string;
  start: string;
  seconds: number | null;
  summary: string;
}

/** About one job. */
export interface TimelineAsked {
  job?: string;
  no_ops?: boolean;
}

/** The attempts of steps in columns, those that began first in front. Steps that have not begun are left out. */
export interface TimelineColumns {
  row: number[];
  operation: number[];
  start: number[];
  milliseconds: number[];
  state: string;
  attempt: number[];
  step: Record<string, string>;
}

/** When everything in a job happened. */
export interface TimelineData {
  format: "ordito.jobs-timeline/1";
  job: string;
  workflow: string;
  status: string;
  t0: number;
  end: number;
  rows: string[];
  operations: string[];
  steps: TimelineColumns;
  critical: number[];
  cancelled: CancelledData | null;
}

/** A token, without the token itself. */
export interface TokenData {
  id: string;
  name: string;
  expires: string;
  created: string;
  used: string | null;
  role: string;
  projects: string[];
}

/** How much of a picture is wanted. */
export interface TopologyAsked {
  boxes?: number;
  open?: string[];
  fold?: string[];
  instances?: boolean;
}

/** What exists, as a picture. */
export interface TopologyData {
  format: "ordito.topology/1";
  service: string;
  nodes: number;
  size: [number, number];
  boxes: PictureBox[];
  edges: PictureEdge[];
  instances?: InstanceColumns;
}

/** How much of a picture is wanted. */
export interface TopologyQuery {
  boxes?: number;
  open?: string[];
}

/** How many instances are created, continued or changed, replaced, removed, checked, and left alone; how many operations run something, are delegated to a provider, and do nothing; and how many waves run or delegate something. */
export interface Totals {
  made: number;
  changed: number;
  replaced: number;
  removed: number;
  looked_at: number;
  unchanged: number;
  operations: number;
  delegated: number;
  no_op: number;
  waves: number;
}

/** What a plan does to a component, or to the module, as a lifecycle step sees it; "" for nothing. */
export type Transition = "" | "delete" | "install" | "upgrade";

/** A trigger. */
export interface TriggerData {
  event: string;
  schedule: Record<string, string>;
  period: string;
  evaluations: number;
  method: string;
  actions: string[];
  held: Record<string, number>;
  evaluated: Record<string, EvaluationData[]>;
  events: EventOfTrigger[];
}

/** What one trigger does about a notice. */
export interface TriggerOfNotice {
  trigger: string;
  done: boolean;
  job: string | null;
  said: string;
}

/** Why there is no result, with findings about documents. */
export interface Trouble {
  failure: Failure;
  diagnostics: FindingData[];
}

/** A type with everything that it has, inherited parts included. */
export interface TypeData {
  format: "ordito.explain/1";
  kind: string;
  name: string;
  derived_from: string[];
  description: string;
  declared: string | null;
  valid_target_types?: string[];
  valid_source_types?: string[];
  holds?: string;
  constraints?: (Record<string, Value>)[];
  mime_type?: string;
  file_ext?: string[];
  members?: string[];
  targets?: string[];
  version?: string;
  metadata?: Record<string, string>;
  properties?: Record<string, PartData>;
  attributes?: Record<string, PartData>;
  capabilities?: Record<string, PartData>;
  requirements?: Record<string, PartData>;
  interfaces?: Record<string, PartData>;
  inputs?: Record<string, PartData>;
  operations?: Record<string, PartData>;
  notifications?: Record<string, PartData>;
  artifacts?: Record<string, PartData>;
  triggers?: Record<string, PartData>;
  others?: string[];
}

/** Parts of a type that have the same path. */
export interface TypePartsData {
  format: "ordito.explain/1";
  kind: string;
  type: string;
  path: string[];
  parts: PartData[];
  others?: string[];
}

/** The result of ``ordito jobs show`` for a job that has not ended. */
export interface UnfinishedJobData {
  format: "ordito.jobs-show/1";
  job: string;
  workflow: string;
  began: number;
  done: number;
  steps: number;
  holder: string;
  rolling_back: boolean;
  outcome: string;
  by?: string;
  origin?: string;
  approved_by?: string[];
}

/** Whether the lock that clones share was removed, and whose it was. */
export interface UnlockedData {
  format: "ordito.jobs-unlock/1";
  unlocked: boolean;
  owner: LockOwnerData | null;
}

/** The lock that clones share. */
export interface Unlocking {
  digest?: string;
}

/** What is to be different; what is left out stays. */
export interface UserChange {
  admin?: boolean;
  auditor?: boolean;
  disabled?: boolean;
  subject?: string;
}

/** A user of the server. */
export interface UserData {
  name: string;
  admin: boolean;
  auditor: boolean;
  disabled: boolean;
  has_password: boolean;
  created: string;
  subject: string;
}

/** A service that was checked: of one that is not valid only the findings are known. */
export interface ValidatedData {
  valid: boolean;
  service: string;
  nodes?: number;
  relationships?: number;
  inputs?: string[];
  outputs?: string[];
  diagnostics: FindingData[];
  archive?: ArchiveData;
  language?: string;
}

/** Approvals that a rule asks for. */
export interface WantedApprovals {
  count: number;
  roles: string[];
  groups: string[];
  author_may: boolean;
  given: number;
  kept: boolean;
}

/** What is to be different; what is left out stays as it is. */
export interface WebhookChange {
  url?: string | null;
  secret?: string | null;
  events?: string[] | null;
  ensembles?: string[] | null;
  paused?: boolean | null;
}

/** A webhook. Its secret is never given back. */
export interface WebhookData {
  id: string;
  url: string;
  events: string[];
  ensembles: string[];
  paused: boolean;
  by: string;
  created: string;
}

/** A plan with all of its lists. */
export interface WholePlan {
  service: string;
  workflow: string;
  environment: string;
  back_to: number | null;
  counts: Record<string, PlannedCount>;
  part: boolean;
  left_out: ChangeData[];
  made_by: Record<string, string>;
  chosen: (Record<string, string>)[];
  totals: Totals;
  held: Delays | null;
  outages: Outage[];
  warnings: string[];
  unfinished: string;
  kept: ChangeData[];
  kept_counts: Record<string, KeptCount>;
  losing: Record<string, string>;
  not_permitted: string[];
  drifted: string[];
  limited: string[];
  risks: Risk[];
  inputs: PlannedInput[];
  changes: ChangeData[];
  steps: StepRow[];
  edges: PlannedEdge[];
  waves: string[][];
}

/** A worker. */
export interface WorkerData {
  id: string;
  name: string;
  pool: string;
  state: string;
  slots: number;
  busy: number;
  version: string;
  lease: number;
}

/** A workflow of the template, in full. */
export interface WorkflowData {
  format: "ordito.workflow-show/1";
  name: string;
  description?: string;
  place?: string;
  replaces?: string;
  inputs?: ShownInput[];
  preconditions?: string[];
  steps?: ShownStep[];
  implementation?: string;
  outputs?: Record<string, (string | number)[]>;
}

/** The workflows of the deployed service, and those that every service has. */
export interface WorkflowListData {
  format: "ordito.workflow-list/1";
  workflows: ListedWorkflow[];
}

/** Nothing besides the name in the path. */
export interface WorkflowQuery {
  name?: string;
}


/** All that can be asked: by method and path below `/api/v1`. */
export interface Routes {
  /** The version of the server, and how to sign in. */
  "GET /": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: ServerData;
  };
  /** What the server runs on, and what it is made of, with the licences of the parts. */
  "GET /about": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: AboutData;
  };
  /** What was done, the newest first. */
  "GET /audit": {
    path: Record<string, never>;
    query: AuditFields;
    body: undefined;
    answer: ListPartDeedData;
  };
  /** All rows of the audit log, one JSON object a line, the oldest first. */
  "GET /audit/export": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: Value;
  };
  /** The number and the hash of the last row of the audit log, for others to keep. */
  "GET /audit/head": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: AuditHead;
  };
  /** The ensembles that I see, each with a summary. */
  "GET /ensembles": {
    path: Record<string, never>;
    query: EnsemblesQuery;
    body: undefined;
    answer: ListPartEnsembleData;
  };
  /** Follow topics: as server-sent events, as lines of JSON, or as one page, by `Accept`. */
  "GET /events": {
    path: Record<string, never>;
    query: StreamFields;
    body: undefined;
    answer: EventPage;
  };
  /** End the freeze of the server. */
  "DELETE /freeze": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** Where nothing begins now. */
  "GET /freeze": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: ListPartFreezeData;
  };
  /** Let nothing begin on the whole server. */
  "PUT /freeze": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: NewFreeze;
    answer: FreezeData;
  };
  /** The groups with their members. */
  "GET /groups": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: ListPartGroupData;
  };
  /** Remove a group, with the roles bound to it. */
  "DELETE /groups/{group}": {
    path: { group: string };
    query: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** A group with its members. */
  "GET /groups/{group}": {
    path: { group: string };
    query: Record<string, never>;
    body: undefined;
    answer: GroupData;
  };
  /** Set the members of a group; it is made where there is none. */
  "PUT /groups/{group}": {
    path: { group: string };
    query: Record<string, never>;
    body: GroupMembers;
    answer: GroupData;
  };
  /** Hear of a push, signed with the secret of the hook. */
  "POST /hooks/git/{id}": {
    path: { id: string };
    query: Record<string, never>;
    body: Blob;
    answer: HookTaken;
  };
  /** What waits for my approval, and my plans that need me. */
  "GET /inbox": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: ListPartAskedPlan;
  };
  /** The newest jobs of all ensembles that I see, or the oldest. */
  "GET /jobs": {
    path: Record<string, never>;
    query: JobsFields;
    body: undefined;
    answer: KnownJobs;
  };
  /** What wants to sign in with a code. */
  "GET /logins": {
    path: Record<string, never>;
    query: CodeFields;
    body: undefined;
    answer: LoginData;
  };
  /** Begin to sign a command in: it shows a code, which somebody confirms. */
  "POST /logins": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: NewLogin;
    answer: MadeLogin;
  };
  /** The token of a sign-in, once somebody has confirmed it: for who sends its secret in `Ordito-Login`. */
  "GET /logins/{id}": {
    path: { id: string };
    query: LoginFields;
    body: undefined;
    answer: LoginAnswer;
  };
  /** Confirm a sign-in: a token is made for who confirms it, valid for 90 days. */
  "POST /logins/{id}/confirm": {
    path: { id: string };
    query: Record<string, never>;
    body: CodeFields;
    answer: undefined;
  };
  /** Who I am, and what I may do. */
  "GET /me": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: MeData;
  };
  /** Set my password; all my other sessions end. */
  "PUT /me/password": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: NewPassword;
    answer: undefined;
  };
  /** My tokens. */
  "GET /me/tokens": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: ListPartTokenData;
  };
  /** Make a token, which is shown once. */
  "POST /me/tokens": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: NewTokenFields;
    answer: MadeToken;
  };
  /** Remove one of my tokens. */
  "DELETE /me/tokens/{id}": {
    path: { id: string };
    query: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** Where the provider sends a browser back: a session begins, and a cookie is set. */
  "GET /oidc/callback": {
    path: Record<string, never>;
    query: BackFields;
    body: undefined;
    answer: Value;
  };
  /** Send a browser to where it signs out of the provider too; its session here is ended before. */
  "GET /oidc/end": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: Value;
  };
  /** Send a browser to the provider that signs people in. */
  "GET /oidc/start": {
    path: Record<string, never>;
    query: StartFields;
    body: undefined;
    answer: Value;
  };
  /** This API as OpenAPI 3.1. */
  "GET /openapi.json": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: Value;
  };
  /** The projects that I may see. */
  "GET /projects": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: ListPartProjectData;
  };
  /** Make a project. */
  "POST /projects": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: NewProject;
    answer: ProjectData;
  };
  /** Remove a project that has no ensembles, with its roles and accounts. */
  "DELETE /projects/{project}": {
    path: { project: string };
    query: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** A project. */
  "GET /projects/{project}": {
    path: { project: string };
    query: Record<string, never>;
    body: undefined;
    answer: ProjectData;
  };
  /** Change a project. */
  "PATCH /projects/{project}": {
    path: { project: string };
    query: Record<string, never>;
    body: ProjectChange;
    answer: ProjectData;
  };
  /** The service accounts, with their tokens. */
  "GET /projects/{project}/accounts": {
    path: { project: string };
    query: Record<string, never>;
    body: undefined;
    answer: ListPartAccountData;
  };
  /** Make a service account. */
  "POST /projects/{project}/accounts": {
    path: { project: string };
    query: Record<string, never>;
    body: NewAccount;
    answer: AccountData;
  };
  /** Remove a service account with its tokens and roles. */
  "DELETE /projects/{project}/accounts/{account}": {
    path: { project: string; account: string };
    query: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** Make a token of a service account, which is shown once. */
  "POST /projects/{project}/accounts/{account}/tokens": {
    path: { project: string; account: string };
    query: Record<string, never>;
    body: NewTokenFields;
    answer: MadeToken;
  };
  /** Remove a token of a service account. */
  "DELETE /projects/{project}/accounts/{account}/tokens/{id}": {
    path: { project: string; account: string; id: string };
    query: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** Who has which role. */
  "GET /projects/{project}/bindings": {
    path: { project: string };
    query: Record<string, never>;
    body: undefined;
    answer: Bindings;
  };
  /** Set who has which role: the whole list. */
  "PUT /projects/{project}/bindings": {
    path: { project: string };
    query: Record<string, never>;
    body: Bindings;
    answer: Bindings;
  };
  /** The ensembles of a project that I may see. */
  "GET /projects/{project}/ensembles": {
    path: { project: string };
    query: EnsemblesQuery;
    body: undefined;
    answer: ListPartEnsembleData;
  };
  /** Make an ensemble of a package, or add one that exists. */
  "POST /projects/{project}/ensembles": {
    path: { project: string };
    query: Record<string, never>;
    body: NewEnsemble;
    answer: EnsembleData;
  };
  /** Remove an ensemble of which nothing exists; its files, and what the server knew, are put aside. */
  "DELETE /projects/{project}/ensembles/{ensemble}": {
    path: { project: string; ensemble: string };
    query: RemoveQuery;
    body: undefined;
    answer: undefined;
  };
  /** An ensemble, with a summary. */
  "GET /projects/{project}/ensembles/{ensemble}": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: undefined;
    answer: EnsembleData;
  };
  /** Set and remove labels. */
  "PATCH /projects/{project}/ensembles/{ensemble}": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: EnsembleChange;
    answer: EnsembleData;
  };
  /** What differs between what is deployed and a package or a revision. */
  "GET /projects/{project}/ensembles/{ensemble}/diff": {
    path: { project: string; ensemble: string };
    query: DiffQuery;
    body: undefined;
    answer: DiffData;
  };
  /** The same, with all that can be said of an upgrade. Nothing is changed. */
  "POST /projects/{project}/ensembles/{ensemble}/diff": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: Comparing;
    answer: ComparedData;
  };
  /** End the freeze of an ensemble. */
  "DELETE /projects/{project}/ensembles/{ensemble}/freeze": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** Let nothing begin in an ensemble. */
  "PUT /projects/{project}/ensembles/{ensemble}/freeze": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: NewFreeze;
    answer: FreezeData;
  };
  /** The hosts of the inventory, and who uses them. */
  "GET /projects/{project}/ensembles/{ensemble}/hosts": {
    path: { project: string; ensemble: string };
    query: HostsAsked;
    body: undefined;
    answer: HostListData;
  };
  /** Connect to hosts of the inventory, and see what they have. */
  "POST /projects/{project}/ensembles/{ensemble}/hosts/check": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: CheckedHosts;
    answer: CheckedHostsData;
  };
  /** Take hosts back from instances that nobody can undeploy. */
  "POST /projects/{project}/ensembles/{ensemble}/hosts/release": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: ReleasedHosts;
    answer: ReleasedHostsData;
  };
  /** The inputs of the service, with the values that it would be deployed with. */
  "GET /projects/{project}/ensembles/{ensemble}/inputs": {
    path: { project: string; ensemble: string };
    query: InputsQuery;
    body: undefined;
    answer: ServiceInputsData;
  };
  /** The same with other values, and what is wrong with them. */
  "POST /projects/{project}/ensembles/{ensemble}/inputs/check": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: InputsGiven;
    answer: ServiceInputsData;
  };
  /** The instances, by page. */
  "GET /projects/{project}/ensembles/{ensemble}/instances": {
    path: { project: string; ensemble: string };
    query: InstancesAsked;
    body: undefined;
    answer: InstancesData;
  };
  /** All that is known about an instance, with its last changes. */
  "GET /projects/{project}/ensembles/{ensemble}/instances/{name}": {
    path: { project: string; ensemble: string; name: string };
    query: Record<string, never>;
    body: undefined;
    answer: DescribedInstance | DescribedNode;
  };
  /** The inventory in the ensemble's directory, empty for none. */
  "GET /projects/{project}/ensembles/{ensemble}/inventory": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: undefined;
    answer: GivenText;
  };
  /** Replace the inventory; with errors nothing is written. */
  "PUT /projects/{project}/ensembles/{ensemble}/inventory": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: NewText;
    answer: CheckedText;
  };
  /** What would be found about an inventory. */
  "POST /projects/{project}/ensembles/{ensemble}/inventory/check": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: NewText;
    answer: CheckedText;
  };
  /** The jobs, the latest first. */
  "GET /projects/{project}/ensembles/{ensemble}/jobs": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: undefined;
    answer: JobListData;
  };
  /** A job, or the `latest`: its record, or its progress. */
  "GET /projects/{project}/ensembles/{ensemble}/jobs/{job}": {
    path: { project: string; ensemble: string; job: string };
    query: Omit<JobAsked, "job">;
    body: undefined;
    answer: RecordedJobData | UnfinishedJobData;
  };
  /** Cancel a job: the running steps finish, or end now. */
  "POST /projects/{project}/ensembles/{ensemble}/jobs/{job}/cancel": {
    path: { project: string; ensemble: string; job: string };
    query: Record<string, never>;
    body: Cancelling;
    answer: JobAskedData;
  };
  /** What the tasks of a job did, so far if it goes on, and what that changed. */
  "GET /projects/{project}/ensembles/{ensemble}/jobs/{job}/changes": {
    path: { project: string; ensemble: string; job: string };
    query: Omit<ChangesAsked, "job">;
    body: undefined;
    answer: JobChangesData;
  };
  /** All events of a job so far, one JSON object a line; `Ordito-Next` is where further ones begin. */
  "GET /projects/{project}/ensembles/{ensemble}/jobs/{job}/events.ndjson": {
    path: { project: string; ensemble: string; job: string };
    query: EventsFields;
    body: undefined;
    answer: Value;
  };
  /** What the operations of a job printed, forwards or backwards. */
  "GET /projects/{project}/ensembles/{ensemble}/jobs/{job}/log": {
    path: { project: string; ensemble: string; job: string };
    query: LogFields;
    body: undefined;
    answer: LogData;
  };
  /** How much each step, instance and operation has printed. */
  "GET /projects/{project}/ensembles/{ensemble}/jobs/{job}/log/facets": {
    path: { project: string; ensemble: string; job: string };
    query: Omit<LogFacetsAsked, "job">;
    body: undefined;
    answer: LogFacetsData;
  };
  /** Lines of the log in which a text is found. */
  "GET /projects/{project}/ensembles/{ensemble}/jobs/{job}/log/search": {
    path: { project: string; ensemble: string; job: string };
    query: Omit<LogSearchAsked, "job">;
    body: undefined;
    answer: LogFoundData;
  };
  /** Go on with an interrupted job. */
  "POST /projects/{project}/ensembles/{ensemble}/jobs/{job}/resume": {
    path: { project: string; ensemble: string; job: string };
    query: Record<string, never>;
    body: Fields;
    answer: JobAskedData;
  };
  /** The steps of a job, with their attempts, reasons, and what they wait for. */
  "GET /projects/{project}/ensembles/{ensemble}/jobs/{job}/steps": {
    path: { project: string; ensemble: string; job: string };
    query: Omit<StepsAsked, "job">;
    body: undefined;
    answer: JobStepsData;
  };
  /** When everything in a job happened, in columns. */
  "GET /projects/{project}/ensembles/{ensemble}/jobs/{job}/timeline": {
    path: { project: string; ensemble: string; job: string };
    query: Omit<TimelineAsked, "job">;
    body: undefined;
    answer: TimelineData;
  };
  /** The nodes, with how their instances are. */
  "GET /projects/{project}/ensembles/{ensemble}/nodes": {
    path: { project: string; ensemble: string };
    query: NodesAsked;
    body: undefined;
    answer: NodesData;
  };
  /** All that is known about a node or an instance. */
  "GET /projects/{project}/ensembles/{ensemble}/nodes/{name}": {
    path: { project: string; ensemble: string; name: string };
    query: Omit<DescribeQuery, "name">;
    body: undefined;
    answer: DescribedInstance | DescribedNode;
  };
  /** What was told to the ensemble, and what came of it. */
  "GET /projects/{project}/ensembles/{ensemble}/notifications": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: undefined;
    answer: NoticesData;
  };
  /** Tell that something has happened. */
  "POST /projects/{project}/ensembles/{ensemble}/notifications": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: NewNotice;
    answer: NoticeStored;
  };
  /** The outputs of the service; sensitive ones are not shown. */
  "GET /projects/{project}/ensembles/{ensemble}/outputs": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: undefined;
    answer: OutputsData;
  };
  /** One output. */
  "GET /projects/{project}/ensembles/{ensemble}/outputs/{name}": {
    path: { project: string; ensemble: string; name: string };
    query: Record<string, never>;
    body: undefined;
    answer: OutputsData;
  };
  /** The plans of an ensemble, the newest first. */
  "GET /projects/{project}/ensembles/{ensemble}/plans": {
    path: { project: string; ensemble: string };
    query: PlanFields;
    body: undefined;
    answer: ListPartAskedPlan;
  };
  /** Ask for a plan; with `apply: auto` also for its job. */
  "POST /projects/{project}/ensembles/{ensemble}/plans": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: PlanWanted;
    answer: AskedPlan;
  };
  /** A plan: how far it has come, its risks, approvals, place, job. */
  "GET /projects/{project}/ensembles/{ensemble}/plans/{id}": {
    path: { project: string; ensemble: string; id: string };
    query: Record<string, never>;
    body: undefined;
    answer: AskedPlan;
  };
  /** Carry out a plan, which its workflow permits. */
  "POST /projects/{project}/ensembles/{ensemble}/plans/{id}/apply": {
    path: { project: string; ensemble: string; id: string };
    query: Record<string, never>;
    body: Applying;
    answer: AskedPlan;
  };
  /** Approve or reject a plan of somebody else. */
  "POST /projects/{project}/ensembles/{ensemble}/plans/{id}/approvals": {
    path: { project: string; ensemble: string; id: string };
    query: Record<string, never>;
    body: ApprovalDecision;
    answer: AskedPlan;
  };
  /** Take one's approval back. */
  "DELETE /projects/{project}/ensembles/{ensemble}/plans/{id}/approvals/mine": {
    path: { project: string; ensemble: string; id: string };
    query: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** Discard a plan that has not begun: one's own, or by control. */
  "POST /projects/{project}/ensembles/{ensemble}/plans/{id}/discard": {
    path: { project: string; ensemble: string; id: string };
    query: Record<string, never>;
    body: undefined;
    answer: AskedPlan;
  };
  /** The plan as a file for `ordito deploy FILE`; no secret is in it. */
  "GET /projects/{project}/ensembles/{ensemble}/plans/{id}/file": {
    path: { project: string; ensemble: string; id: string };
    query: Record<string, never>;
    body: undefined;
    answer: Value;
  };
  /** What the plan does: all of it, or a part of one of its lists. */
  "GET /projects/{project}/ensembles/{ensemble}/plans/{id}/plan": {
    path: { project: string; ensemble: string; id: string };
    query: PartFields;
    body: undefined;
    answer: WholePlan | PlanHead | ListPartChangeData | ListPartStepRow | ListPartPlannedEdge;
  };
  /** How the job of the plan ended. */
  "GET /projects/{project}/ensembles/{ensemble}/plans/{id}/report": {
    path: { project: string; ensemble: string; id: string };
    query: Record<string, never>;
    body: undefined;
    answer: PlanReport;
  };
  /** What was asked for, to ask for it once more; without secrets. */
  "GET /projects/{project}/ensembles/{ensemble}/plans/{id}/request": {
    path: { project: string; ensemble: string; id: string };
    query: Record<string, never>;
    body: undefined;
    answer: AskedAgain;
  };
  /** What the plan changes, as a picture. */
  "GET /projects/{project}/ensembles/{ensemble}/plans/{id}/topology": {
    path: { project: string; ensemble: string; id: string };
    query: TopologyQuery;
    body: undefined;
    answer: PlanTopologyData;
  };
  /** What triggers wait for, and did. */
  "GET /projects/{project}/ensembles/{ensemble}/policies": {
    path: { project: string; ensemble: string };
    query: PoliciesAsked;
    body: undefined;
    answer: PoliciesData;
  };
  /** One policy. */
  "GET /projects/{project}/ensembles/{ensemble}/policies/{name}": {
    path: { project: string; ensemble: string; name: string };
    query: Record<string, never>;
    body: undefined;
    answer: PoliciesData;
  };
  /** What goes with an ensemble that is removed, in numbers, and what is in the way of that. */
  "GET /projects/{project}/ensembles/{ensemble}/removal": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: undefined;
    answer: RemovalData;
  };
  /** Compare what is recorded with the records of all jobs, or rebuild it. */
  "POST /projects/{project}/ensembles/{ensemble}/replay": {
    path: { project: string; ensemble: string };
    query: ReplayQuery;
    body: undefined;
    answer: ReplayData;
  };
  /** What was deployed, and when. */
  "GET /projects/{project}/ensembles/{ensemble}/revisions": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: undefined;
    answer: RevisionsData;
  };
  /** What differs between what two revisions have deployed. */
  "GET /projects/{project}/ensembles/{ensemble}/revisions/diff": {
    path: { project: string; ensemble: string };
    query: RevisionDiffAsked;
    body: undefined;
    answer: RevisionDiffData;
  };
  /** Which plans of an ensemble need approvals besides. */
  "GET /projects/{project}/ensembles/{ensemble}/rules": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: undefined;
    answer: Rules;
  };
  /** Set the rules of an ensemble: all of them. */
  "PUT /projects/{project}/ensembles/{ensemble}/rules": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: Rules;
    answer: Rules;
  };
  /** The schedules of an ensemble. */
  "GET /projects/{project}/ensembles/{ensemble}/schedules": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: undefined;
    answer: ListPartScheduleData;
  };
  /** Make a schedule: what is asked for by the clock. */
  "POST /projects/{project}/ensembles/{ensemble}/schedules": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: NewSchedule;
    answer: ScheduleData;
  };
  /** Remove a schedule. */
  "DELETE /projects/{project}/ensembles/{ensemble}/schedules/{id}": {
    path: { project: string; ensemble: string; id: string };
    query: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** A schedule. */
  "GET /projects/{project}/ensembles/{ensemble}/schedules/{id}": {
    path: { project: string; ensemble: string; id: string };
    query: Record<string, never>;
    body: undefined;
    answer: ScheduleData;
  };
  /** Change a schedule, pause it, or let it go on. */
  "PATCH /projects/{project}/ensembles/{ensemble}/schedules/{id}": {
    path: { project: string; ensemble: string; id: string };
    query: Record<string, never>;
    body: ScheduleChange;
    answer: ScheduleData;
  };
  /** The names of the secrets. */
  "GET /projects/{project}/ensembles/{ensemble}/secrets": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: undefined;
    answer: SecretNamesData;
  };
  /** Forget a secret. */
  "DELETE /projects/{project}/ensembles/{ensemble}/secrets/{name}": {
    path: { project: string; ensemble: string; name: string };
    query: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** Keep a secret; it is sealed, and never given back. */
  "PUT /projects/{project}/ensembles/{ensemble}/secrets/{name}": {
    path: { project: string; ensemble: string; name: string };
    query: Record<string, never>;
    body: Secret;
    answer: undefined;
  };
  /** What is in the service as it was deployed, its files among it. */
  "GET /projects/{project}/ensembles/{ensemble}/service": {
    path: { project: string; ensemble: string };
    query: ServiceAsked;
    body: undefined;
    answer: PackageSummary;
  };
  /** A file of the service as it was deployed. */
  "GET /projects/{project}/ensembles/{ensemble}/service/files/{path}": {
    path: { project: string; ensemble: string; path: string };
    query: Omit<ServiceFileAsked, "path">;
    body: undefined;
    answer: PackageFile;
  };
  /** The nodes of the deployed service, and how they are connected. */
  "GET /projects/{project}/ensembles/{ensemble}/service/graph": {
    path: { project: string; ensemble: string };
    query: ServiceGraphAsked;
    body: undefined;
    answer: GraphData;
  };
  /** A type that the deployed service can use, or a part of one. */
  "GET /projects/{project}/ensembles/{ensemble}/service/types/{name}": {
    path: { project: string; ensemble: string; name: string };
    query: Omit<ServiceTypeAsked, "name">;
    body: undefined;
    answer: TypeData | TypePartsData;
  };
  /** Let an ensemble follow no repository any more. */
  "DELETE /projects/{project}/ensembles/{ensemble}/source": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** The repository that an ensemble follows. */
  "GET /projects/{project}/ensembles/{ensemble}/source": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: undefined;
    answer: SourceData;
  };
  /** Let an ensemble follow a branch: each new commit is planned. */
  "PUT /projects/{project}/ensembles/{ensemble}/source": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: SourceFields;
    answer: SourceData;
  };
  /** Look at the repository now. */
  "POST /projects/{project}/ensembles/{ensemble}/source/look": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: undefined;
    answer: SourceData;
  };
  /** The user's part of `ensemble.yaml`, byte for byte but for sensitive inputs. */
  "GET /projects/{project}/ensembles/{ensemble}/spec": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: undefined;
    answer: GivenText;
  };
  /** Replace the user's part; with errors nothing is written. */
  "PUT /projects/{project}/ensembles/{ensemble}/spec": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: NewText;
    answer: CheckedText;
  };
  /** What would be found about a user's part. */
  "POST /projects/{project}/ensembles/{ensemble}/spec/check": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: NewText;
    answer: CheckedText;
  };
  /** What the user's part of the ensemble comes to. */
  "GET /projects/{project}/ensembles/{ensemble}/spec/evaluated": {
    path: { project: string; ensemble: string };
    query: SpecAsked;
    body: undefined;
    answer: SpecData;
  };
  /** The records of instances, deleted ones included. */
  "GET /projects/{project}/ensembles/{ensemble}/state": {
    path: { project: string; ensemble: string };
    query: StateAsked;
    body: undefined;
    answer: RecordsData;
  };
  /** Record something that exists already as an instance. Nothing is run. */
  "POST /projects/{project}/ensembles/{ensemble}/state/adopt": {
    path: { project: string; ensemble: string };
    query: DryQuery;
    body: Adopting;
    answer: ReviewedEdit | EditData;
  };
  /** All that is recorded, without sensitive values. */
  "GET /projects/{project}/ensembles/{ensemble}/state/export": {
    path: { project: string; ensemble: string };
    query: StateAsked;
    body: undefined;
    answer: ExportedState;
  };
  /** Drop the records of deleted instances. Nothing is run. */
  "POST /projects/{project}/ensembles/{ensemble}/state/forget": {
    path: { project: string; ensemble: string };
    query: DryQuery;
    body: Forgetting;
    answer: ReviewedEdit | EditData;
  };
  /** Follow a node that was renamed in the template. Nothing is run. */
  "POST /projects/{project}/ensembles/{ensemble}/state/mv": {
    path: { project: string; ensemble: string };
    query: DryQuery;
    body: Moving;
    answer: ReviewedEdit | EditData;
  };
  /** Put back deployed files that were changed since. */
  "POST /projects/{project}/ensembles/{ensemble}/state/renew": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: Renewing;
    answer: RenewedData;
  };
  /** Forget instances, whether they exist or not. Nothing is run. */
  "POST /projects/{project}/ensembles/{ensemble}/state/rm": {
    path: { project: string; ensemble: string };
    query: DryQuery;
    body: Removing;
    answer: ReviewedEdit | EditData;
  };
  /** What exists, with the status of each instance. */
  "GET /projects/{project}/ensembles/{ensemble}/status": {
    path: { project: string; ensemble: string };
    query: StatusAsked;
    body: undefined;
    answer: StatusData;
  };
  /** What exists as a picture: boxes, lines, states in columns. */
  "GET /projects/{project}/ensembles/{ensemble}/topology": {
    path: { project: string; ensemble: string };
    query: TopologyAsked;
    body: undefined;
    answer: TopologyData;
  };
  /** Remove the lock that clones share, if its holder is gone. */
  "POST /projects/{project}/ensembles/{ensemble}/unlock": {
    path: { project: string; ensemble: string };
    query: DryQuery;
    body: Unlocking;
    answer: HeldLockData | UnlockedData;
  };
  /** The workflows of the deployed service. */
  "GET /projects/{project}/ensembles/{ensemble}/workflows": {
    path: { project: string; ensemble: string };
    query: Record<string, never>;
    body: undefined;
    answer: WorkflowListData;
  };
  /** A workflow: its inputs and steps. */
  "GET /projects/{project}/ensembles/{ensemble}/workflows/{name}": {
    path: { project: string; ensemble: string; name: string };
    query: Record<string, never>;
    body: undefined;
    answer: WorkflowData;
  };
  /** End the freeze of a project. */
  "DELETE /projects/{project}/freeze": {
    path: { project: string };
    query: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** Let nothing begin in a project. */
  "PUT /projects/{project}/freeze": {
    path: { project: string };
    query: Record<string, never>;
    body: NewFreeze;
    answer: FreezeData;
  };
  /** The packages of a project, the latest first. */
  "GET /projects/{project}/packages": {
    path: { project: string };
    query: PackagesQuery;
    body: undefined;
    answer: ListPartPackageLine;
  };
  /** Send an archive of a service. */
  "POST /projects/{project}/packages": {
    path: { project: string };
    query: NewPackage;
    body: Blob;
    answer: PackageData;
  };
  /** Remove a package that nothing needs. */
  "DELETE /projects/{project}/packages/{digest}": {
    path: { project: string; digest: string };
    query: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** A package, by its digest or a label, and what is in it. */
  "GET /projects/{project}/packages/{digest}": {
    path: { project: string; digest: string };
    query: Record<string, never>;
    body: undefined;
    answer: PackageData;
  };
  /** The archive. */
  "GET /projects/{project}/packages/{digest}/content": {
    path: { project: string; digest: string };
    query: Record<string, never>;
    body: undefined;
    answer: Value;
  };
  /** A file in it, with its text. */
  "GET /projects/{project}/packages/{digest}/files/{path}": {
    path: { project: string; digest: string; path: string };
    query: Record<string, never>;
    body: undefined;
    answer: PackageFile;
  };
  /** Its nodes, and how they are connected. */
  "GET /projects/{project}/packages/{digest}/graph": {
    path: { project: string; digest: string };
    query: GraphQuery;
    body: undefined;
    answer: GraphData;
  };
  /** Let a label, `name:version`, point to it. */
  "PUT /projects/{project}/packages/{digest}/labels/{label}": {
    path: { project: string; digest: string; label: string };
    query: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** The same as a picture: boxes and lines. */
  "GET /projects/{project}/packages/{digest}/topology": {
    path: { project: string; digest: string };
    query: TopologyQuery;
    body: undefined;
    answer: TopologyData;
  };
  /** A type that it can use, or a part of one. */
  "GET /projects/{project}/packages/{digest}/types/{name}": {
    path: { project: string; digest: string; name: string };
    query: Record<string, never>;
    body: undefined;
    answer: TypeData | TypePartsData;
  };
  /** Whether it can be deployed with some inputs. */
  "POST /projects/{project}/packages/{digest}/validate": {
    path: { project: string; digest: string };
    query: Record<string, never>;
    body: PackageInputs;
    answer: ValidatedData;
  };
  /** Which plans of a project need approvals. */
  "GET /projects/{project}/rules": {
    path: { project: string };
    query: Record<string, never>;
    body: undefined;
    answer: Rules;
  };
  /** Set the rules of a project: all of them. */
  "PUT /projects/{project}/rules": {
    path: { project: string };
    query: Record<string, never>;
    body: Rules;
    answer: Rules;
  };
  /** The webhooks of a project. */
  "GET /projects/{project}/webhooks": {
    path: { project: string };
    query: Record<string, never>;
    body: undefined;
    answer: ListPartWebhookData;
  };
  /** Make a webhook: events are posted to it, signed. */
  "POST /projects/{project}/webhooks": {
    path: { project: string };
    query: Record<string, never>;
    body: NewWebhook;
    answer: MadeWebhook;
  };
  /** Remove a webhook with its deliveries. */
  "DELETE /projects/{project}/webhooks/{id}": {
    path: { project: string; id: string };
    query: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** A webhook. */
  "GET /projects/{project}/webhooks/{id}": {
    path: { project: string; id: string };
    query: Record<string, never>;
    body: undefined;
    answer: WebhookData;
  };
  /** Change a webhook, pause it, or let it go on. */
  "PATCH /projects/{project}/webhooks/{id}": {
    path: { project: string; id: string };
    query: Record<string, never>;
    body: WebhookChange;
    answer: WebhookData;
  };
  /** What was posted to a webhook, and what waits, the latest first. */
  "GET /projects/{project}/webhooks/{id}/deliveries": {
    path: { project: string; id: string };
    query: DeliveryFields;
    body: undefined;
    answer: ListPartDeliveryData;
  };
  /** Post an event once more. */
  "POST /projects/{project}/webhooks/{id}/deliveries/{delivery}/again": {
    path: { project: string; id: string; delivery: string };
    query: Record<string, never>;
    body: undefined;
    answer: DeliveryData;
  };
  /** Post an event that says nothing, to see whether it arrives. */
  "POST /projects/{project}/webhooks/{id}/test": {
    path: { project: string; id: string };
    query: Record<string, never>;
    body: undefined;
    answer: DeliveryData;
  };
  /** Search in ensembles, instances, jobs and packages that I may see. */
  "GET /search": {
    path: Record<string, never>;
    query: SearchFields;
    body: undefined;
    answer: SearchResult;
  };
  /** My sessions. */
  "GET /sessions": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: ListPartSessionData;
  };
  /** Sign in with a password or a one-time link; a cookie is set. */
  "POST /sessions": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: SignIn;
    answer: SessionData;
  };
  /** End one of my sessions; `current` is the one that asks. */
  "DELETE /sessions/{id}": {
    path: { id: string };
    query: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** How the server is set: banner, isolation, jobs, limits, and what it may reach. */
  "GET /settings": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: SettingsData;
  };
  /** Set the banner, how jobs run, limits, and what the server may reach, from now on; null is as its file says. */
  "PUT /settings": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: ChangedSettings;
    answer: SettingsData;
  };
  /** The store over which the server serves: its workers, and what waits for them. */
  "GET /store": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: undefined;
    answer: StoreStateData;
  };
  /** The users. */
  "GET /users": {
    path: Record<string, never>;
    query: PageFields;
    body: undefined;
    answer: ListPartUserData;
  };
  /** Make a user. */
  "POST /users": {
    path: Record<string, never>;
    query: Record<string, never>;
    body: NewUser;
    answer: UserData;
  };
  /** Remove a user with their sessions, tokens and roles. */
  "DELETE /users/{user}": {
    path: { user: string };
    query: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
  /** A user. */
  "GET /users/{user}": {
    path: { user: string };
    query: Record<string, never>;
    body: undefined;
    answer: UserData;
  };
  /** Change a user; who is disabled is signed out at once. */
  "PATCH /users/{user}": {
    path: { user: string };
    query: Record<string, never>;
    body: UserChange;
    answer: UserData;
  };
  /** Take the password of a user away, end their sessions and tokens, and make a one-time link. */
  "POST /users/{user}/reset": {
    path: { user: string };
    query: Record<string, never>;
    body: undefined;
    answer: LinkData;
  };
  /** The tokens of a user, without their secrets. */
  "GET /users/{user}/tokens": {
    path: { user: string };
    query: Record<string, never>;
    body: undefined;
    answer: ListPartTokenData;
  };
  /** End one token of a user. */
  "DELETE /users/{user}/tokens/{id}": {
    path: { user: string; id: string };
    query: Record<string, never>;
    body: undefined;
    answer: undefined;
  };
}

/** The roles, each with what it permits. */
export const ROLES = {
  viewer: ["read"],
  planner: ["read", "logs", "plan"],
  operator: ["read", "logs", "plan", "operate", "control"],
  deployer: ["read", "logs", "plan", "operate", "control", "deploy", "run"],
  approver: ["read", "logs", "approve"],
  maintainer: ["read", "logs", "plan", "operate", "control", "deploy", "run", "approve", "remove", "configure", "secrets", "records"],
  owner: ["read", "logs", "plan", "operate", "control", "deploy", "run", "approve", "remove", "configure", "secrets", "records", "members"],
} as const;

/** What can be asked for. */
export const WORKFLOWS = ["deploy", "upgrade", "rollback", "undeploy", "scale", "heal", "stop", "start", "restart", "check", "discover", "run", "workflow", "retry", "skip"] as const;

/** What a plan may put at risk. */
export const RISKS = ["removes", "replaces", "lossy", "outage", "protected", "runs-anything"] as const;

/** What webhooks can be told of. */
export const EVENT_TYPES = ["plan.waiting", "plan.rejected", "plan.stale", "job.began", "job.ended", "job.attention", "ensemble.drift", "freeze.changed", "webhook.test"] as const;
