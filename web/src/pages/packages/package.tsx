import { type ReactNode, useState } from "react";
import { Link, useLocation } from "wouter";

import { BASE } from "../../api/ask.ts";
import type { PackageData, PackageInput, PackageNode, ProjectData, ValidatedData } from "../../api/types.ts";
import { useChange, useLook } from "../../api/use.ts";
import { Action, useUnable } from "../../parts/action.tsx";
import { useChosen } from "../../parts/chosen.ts";
import { Copy } from "../../parts/copy.tsx";
import { Confirm, Dialog } from "../../parts/dialog.tsx";
import { cut, Drawing } from "../../parts/drawing.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Field } from "../../parts/form.tsx";
import { bytes } from "../../parts/moment.ts";
import { Findings, ProblemPart } from "../../parts/problem.tsx";
import { ProjectPage } from "../../parts/project-head.tsx";
import { ServiceFiles } from "../../parts/service-files.tsx";
import { Badge, Status } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { Time } from "../../parts/time.tsx";
import { Wait } from "../../parts/wait.tsx";
import type { PageProps } from "../routes.ts";
import "./packages.css";

const ONE = "GET /projects/{project}/packages/{digest}";
const OF_PROJECT = "GET /projects/{project}/packages";

/** A package: what is in it, and what can be done with it. */
export default function PackagePage({ params }: PageProps): ReactNode {
  const { project = "", digest = "" } = params;
  return (
    <ProjectPage project={project} page={`Package ${digest.slice(0, 12)}`}>
      {(data) => <Package of={data} digest={digest} />}
    </ProjectPage>
  );
}

function Package({ of, digest }: { of: ProjectData; digest: string }): ReactNode {
  const found = useLook(ONE, { path: { project: of.name, digest } }, { topics: [`project:${of.name}`] });
  return (
    <Wait for={found} title="The package could not be read">
      {(data) => (
        <>
          <Head of={data} project={of} />
          <Content of={data} project={of.name} />
        </>
      )}
    </Wait>
  );
}

function Head({ of, project }: { of: PackageData; project: ProjectData }): ReactNode {
  const unable = useUnable(project.allowed, project.name);
  const [asks, setAsks] = useState<"label" | "validate" | "remove">();
  const close = (): void => setAsks(undefined);
  const title = [of.name || "A service without a name", of.version].filter(Boolean).join(" ");
  return (
    <section className="section" aria-labelledby="package">
      <div className="section-head">
        <h2 id="package">{title}</h2>
        <span className="row-actions">
          <Action
            className="button main"
            does={`/p/${project.name}/new?package=${of.digest}`}
            unable={unable("configure")}
          >
            Deploy as a new ensemble
          </Action>
          <Action does={() => setAsks("validate")} unable={unable("plan")}>
            Validate
          </Action>
          <a className="button" href={`${BASE}/projects/${project.name}/packages/${of.digest}/content`} download>
            Download
          </a>
          <Action does={() => setAsks("label")} unable={unable("deploy")}>
            Label
          </Action>
          <Action does={() => setAsks("remove")} unable={unable("deploy")}>
            Remove
          </Action>
        </span>
      </div>
      {of.summary.description && <p>{of.summary.description}</p>}
      <Facts
        rows={[
          ["Labels", of.labels.length ? of.labels.map((label) => <Badge key={label}>{label}</Badge>) : "none"],
          ["Digest", <Copy key="d" text={of.digest} label="digest" />],
          ["Size", `${bytes(of.size)}, ${of.summary.files.length.toLocaleString("en")} files`],
          ["Author", of.summary.author],
          [
            "Sent",
            <span key="s">
              by {of.by}, <Time at={of.created} />
            </span>,
          ],
          ["Used by", <UsedBy key="u" project={project.name} digest={of.digest} />],
        ]}
      />
      <Findings of={of.summary.diagnostics} />
      {asks === "label" && <Label project={project.name} digest={of.digest} onClose={close} />}
      {asks === "validate" && <Validate project={project.name} of={of} onClose={close} />}
      {asks === "remove" && <Remove project={project.name} of={of} title={title} onClose={close} />}
    </section>
  );
}

/** The ensembles that are made of it. */
function UsedBy({ project, digest }: { project: string; digest: string }): ReactNode {
  const found = useLook(
    "GET /projects/{project}/ensembles",
    { path: { project }, query: { limit: 500 } },
    { topics: [`project:${project}`, "ensembles"] },
  );
  if (!found.data) return <span className="muted">{found.isError ? "could not be found out" : "…"}</span>;
  const users = found.data.data.items.filter((one) => one.package === digest);
  if (!users.length) return <span className="muted">no ensemble</span>;
  return users.map(({ name }, at) => (
    <span key={name}>
      {at > 0 && ", "}
      <Link href={`/e/${project}/${name}`}>{name}</Link>
    </span>
  ));
}

function Label({ project, digest, onClose }: { project: string; digest: string; onClose: () => void }): ReactNode {
  const put = useChange("PUT /projects/{project}/packages/{digest}/labels/{label}", [ONE, OF_PROJECT]);
  const [label, setLabel] = useState("");
  return (
    <Confirm
      title="A label for the package"
      does="Set the label"
      onConfirm={() => put.mutateAsync({ path: { project, digest, label } })}
      onClose={onClose}
    >
      <Field label="Label" hint="name:version. It stays with this package, unless its version ends in -dev.">
        {(control) => (
          <input
            {...control}
            required
            autoFocus
            placeholder="shop:2.4"
            spellCheck={false}
            autoCapitalize="none"
            value={label}
            onChange={(event) => setLabel(event.target.value)}
          />
        )}
      </Field>
    </Confirm>
  );
}

function Remove({
  project,
  of,
  title,
  onClose,
}: {
  project: string;
  of: PackageData;
  title: string;
  onClose: () => void;
}): ReactNode {
  const remove = useChange("DELETE /projects/{project}/packages/{digest}", [OF_PROJECT]);
  const [, go] = useLocation();
  return (
    <Confirm
      title={`Remove ${title}`}
      does="Remove"
      danger
      onConfirm={async () => {
        await remove.mutateAsync({ path: { project, digest: of.digest } });
        go(`/p/${project}/packages`);
      }}
      onClose={onClose}
    >
      {of.labels.length > 0 && `The labels ${of.labels.join(", ")} go with it. `}A package that an ensemble, a plan or a
      schedule needs is not removed.
    </Confirm>
  );
}

function Validate({ project, of, onClose }: { project: string; of: PackageData; onClose: () => void }): ReactNode {
  const validate = useChange("POST /projects/{project}/packages/{digest}/validate");
  const [text, setText] = useState("{}");
  const [found, setFound] = useState<ValidatedData>();
  const [error, setError] = useState<unknown>();
  const ask = async (): Promise<void> => {
    setError(undefined);
    setFound(undefined);
    try {
      const inputs = JSON.parse(text || "{}") as Record<string, unknown>;
      setFound((await validate.mutateAsync({ path: { project, digest: of.digest }, body: { inputs } })).data);
    } catch (problem) {
      setError(problem);
    }
  };
  return (
    <Dialog title="Whether it can be deployed" onClose={onClose} wide>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          void ask();
        }}
      >
        <Field
          label="Inputs"
          hint={`As JSON. There are ${of.summary.inputs.map(({ name }) => name).join(", ") || "none"}.`}
        >
          {(control) => (
            <textarea
              {...control}
              className="mono"
              rows={5}
              spellCheck={false}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        {error !== undefined && <ProblemPart error={error} title="It could not be found out" />}
        <div role="status">
          {found && (
            <>
              {found.valid ? (
                <Status of="it can be deployed" tone="ok" />
              ) : (
                <Status of="it cannot be deployed" tone="error" />
              )}
              <Findings of={found.diagnostics} />
            </>
          )}
        </div>
        <footer className="buttons">
          <button type="submit" className="button main" disabled={validate.isPending}>
            Validate
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

const TABS = ["files", "inputs", "nodes", "graph", "types", "workflows"] as const;
type TabId = (typeof TABS)[number];

function Content({ of, project }: { of: PackageData; project: string }): ReactNode {
  const [wanted, choose] = useChosen("tab", "files");
  const { summary } = of;
  const chosen: TabId = TABS.find((one) => one === wanted) ?? "files";
  return (
    <Tabs
      label="What is in the package"
      chosen={chosen}
      onChoose={choose}
      tabs={[
        { id: "files", label: "Files", count: summary.files.length },
        { id: "inputs", label: "Inputs", count: summary.inputs.length },
        { id: "nodes", label: "Nodes", count: summary.nodes.length },
        { id: "graph", label: "Graph" },
        { id: "types", label: "Types", count: summary.types.length },
        { id: "workflows", label: "Workflows and policies", count: summary.workflows.length + summary.policies.length },
      ]}
    >
      {chosen === "files" && <ServiceFiles of={{ project, digest: of.digest }} summary={summary} />}
      {chosen === "inputs" && <Rows label="Inputs" columns={INPUTS} rows={summary.inputs} none="It has no inputs" />}
      {chosen === "nodes" && <Rows label="Nodes" columns={NODES} rows={summary.nodes} none="It has no nodes" />}
      {chosen === "graph" && <Graph project={project} of={of} />}
      {chosen === "types" && (
        <Rows label="Types" columns={TYPES} rows={summary.types} none="It defines no types of its own" />
      )}
      {chosen === "workflows" && (
        <Rows
          label="Workflows and policies"
          columns={WORKFLOWS}
          rows={[
            ...summary.workflows.map((name) => ({ name, what: "workflow" })),
            ...summary.policies.map(({ name, type }) => ({ name, what: `policy, ${type}` })),
          ]}
          none="It has neither workflows nor policies"
        />
      )}
    </Tabs>
  );
}

interface RowsProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  none: string;
}

function Rows<Row extends { name: string }>({ label, columns, rows, none }: RowsProps<Row>): ReactNode {
  if (!rows.length) return <Empty title={none} />;
  return (
    <Table
      label={label}
      columns={columns}
      rows={rows}
      keyOf={(row) => `${"kind" in row ? String(row.kind) : ""}${row.name}`}
    />
  );
}

function Graph({ project, of }: { project: string; of: PackageData }): ReactNode {
  const found = useLook("GET /projects/{project}/packages/{digest}/topology", {
    path: { project, digest: of.digest },
    query: {},
  });
  return (
    <Wait for={found} title="The graph could not be drawn" lines={8}>
      {(data) => (
        <>
          <Drawing
            of={data}
            label="Graph of the service"
            about={`${data.nodes} nodes and how they are connected`}
            // What stands in a box begins right below its title.
            line={(box, isHolding) =>
              isHolding ? "" : cut(box.folded ? `${box.nodes} nodes` : (box.type.split(".").at(-1) ?? ""), box)
            }
          />
          <p className="muted">{data.nodes.toLocaleString("en")} nodes; the tab Nodes has them as a table.</p>
        </>
      )}
    </Wait>
  );
}

const INPUTS: readonly Column<PackageInput>[] = [
  {
    id: "name",
    head: "Name",
    width: "minmax(8rem, 1fr)",
    isName: true,
    cell: ({ name }) => <span className="mono">{name}</span>,
  },
  {
    id: "type",
    head: "Type",
    width: "minmax(8rem, 1fr)",
    cell: ({ type, constraints }) => (
      <>
        {type}
        {constraints.map((one) => (
          <code key={JSON.stringify(one)} className="muted">
            {" "}
            {JSON.stringify(one)}
          </code>
        ))}
      </>
    ),
  },
  {
    id: "default",
    head: "Without a value",
    width: "minmax(8rem, 1fr)",
    cell: ({ required, default: usual, sensitive }) =>
      required ? (
        "must be given"
      ) : sensitive ? (
        "a default that is not shown"
      ) : usual === null ? (
        "none"
      ) : (
        <code>{JSON.stringify(usual)}</code>
      ),
  },
  {
    id: "about",
    head: "About",
    width: "minmax(8rem, 2fr)",
    cell: ({ description, sensitive }) => (
      <>
        {sensitive && <Badge>sensitive</Badge>} {description}
      </>
    ),
  },
];

const NODES: readonly Column<PackageNode>[] = [
  { id: "name", head: "Name", width: "minmax(8rem, 1fr)", isName: true, cell: ({ name }) => name },
  { id: "type", head: "Type", width: "minmax(8rem, 2fr)", cell: ({ type }) => <span className="mono">{type}</span> },
  { id: "host", head: "Host", cell: ({ host }) => host },
];

const TYPES: readonly Column<PackageData["summary"]["types"][number]>[] = [
  {
    id: "name",
    head: "Name",
    width: "minmax(8rem, 2fr)",
    isName: true,
    cell: ({ name }) => <span className="mono">{name}</span>,
  },
  { id: "kind", head: "Kind", cell: ({ kind }) => kind },
];

const WORKFLOWS: readonly Column<{ name: string; what: string }>[] = [
  { id: "name", head: "Name", isName: true, cell: ({ name }) => name },
  { id: "what", head: "What", cell: ({ what }) => what },
];
