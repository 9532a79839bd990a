import { type ReactNode, useDeferredValue } from "react";
import { Link, useLocation } from "wouter";

import { useParts } from "../../api/parts.ts";
import type { PackageLine, ProjectData } from "../../api/types.ts";
import { useLook, useTitle } from "../../api/use.ts";
import { useUnable } from "../../parts/action.tsx";
import { useChosen } from "../../parts/chosen.ts";
import { Copy } from "../../parts/copy.tsx";
import { Empty } from "../../parts/empty.tsx";
import { List } from "../../parts/list.tsx";
import { bytes } from "../../parts/moment.ts";
import { ProjectPage } from "../../parts/project-head.tsx";
import { Badge } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Wait } from "../../parts/wait.tsx";
import type { PageProps } from "../routes.ts";
import { Upload } from "./upload.tsx";
import "./packages.css";

/** The packages of a project: of the one in the address, else of one that is chosen. */
export default function PackagesPage({ params }: PageProps): ReactNode {
  const project = params["project"];
  if (project === undefined) return <OfSomeProject />;
  return (
    <ProjectPage project={project} page="Packages">
      {(data) => <Packages of={data} />}
    </ProjectPage>
  );
}

const CHOSEN = "ordito.project";

function OfSomeProject(): ReactNode {
  useTitle("Packages");
  const projects = useLook("GET /projects", {}, { every: 60 });
  const [wanted, choose] = useChosen("project");
  return (
    <>
      <div className="page-head">
        <h1>Packages</h1>
        {(projects.data?.data.items.length ?? 0) > 1 && (
          <select
            className="packages-project"
            aria-label="Project"
            value={shownOf(projects.data?.data.items ?? [], wanted)?.name ?? ""}
            onChange={(event) => {
              localStorage.setItem(CHOSEN, event.target.value);
              choose(event.target.value);
            }}
          >
            {projects.data?.data.items.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </div>
      <Wait for={projects} title="The projects could not be read">
        {({ items }) => {
          const shown = shownOf(items, wanted);
          if (shown) return <Packages key={shown.name} of={shown} />;
          return (
            <Empty title="There is no project for you">
              <p className="muted">
                Packages belong to projects. Owners of a project give roles in it, administrators make projects.
              </p>
            </Empty>
          );
        }}
      </Wait>
    </>
  );
}

/** The project in the address, else the one that was looked at last, else the first. */
function shownOf(projects: readonly ProjectData[], wanted: string): ProjectData | undefined {
  const named = (name: string | null): ProjectData | undefined => projects.find((one) => one.name === name);
  return named(wanted) ?? named(localStorage.getItem(CHOSEN)) ?? projects[0];
}

function Packages({ of }: { of: ProjectData }): ReactNode {
  const [text, setText] = useChosen("q");
  const [, go] = useLocation();
  const q = useDeferredValue(text);
  const packages = useParts(
    "GET /projects/{project}/packages",
    { path: { project: of.name }, query: { q, limit: 200 } },
    { topics: [`project:${of.name}`] },
  );
  const unable = useUnable(of.allowed, of.name);
  return (
    <section className="section" aria-label={`Packages of ${of.name}`}>
      <Upload
        project={of.name}
        unable={unable("deploy")}
        onSent={({ digest }) => {
          packages.again();
          go(`/p/${of.name}/packages/${digest}`);
        }}
      />
      <input
        type="search"
        data-filter
        className="packages-filter"
        aria-label="Filter the packages"
        placeholder="Name, label or digest"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <List for={packages} title="The packages could not be read">
        {(items) => {
          if (items.length) {
            return (
              <Table
                label="Packages"
                columns={COLUMNS(of.name)}
                rows={items}
                keyOf={({ digest }) => digest}
                addressOf={({ digest }) => `/p/${of.name}/packages/${digest}`}
              />
            );
          }
          if (q) return <Empty title="No package is called so" />;
          return (
            <Empty title="There are no packages yet">
              <p>
                Make an archive of the folder <code>shop</code>, which holds a service template, and drop it above:
              </p>
              <p>
                <Copy label="command" text="ordito package shop" />
              </p>
            </Empty>
          );
        }}
      </List>
    </section>
  );
}

const COLUMNS = (project: string): readonly Column<PackageLine>[] => [
  {
    id: "name",
    head: "Service",
    width: "minmax(9rem, 2fr)",
    isName: true,
    cell: ({ digest, name, version }) => (
      <Link href={`/p/${project}/packages/${digest}`} className="row-link">
        {name || "no name"} {version}
      </Link>
    ),
  },
  {
    id: "labels",
    head: "Labels",
    width: "minmax(9rem, 2fr)",
    cell: ({ labels }) => labels.map((label) => <Badge key={label}>{label}</Badge>),
  },
  {
    id: "digest",
    head: "Digest",
    width: "9rem",
    cell: ({ digest }) => <span className="mono muted">{digest.slice(0, 12)}</span>,
  },
  { id: "nodes", head: "Nodes", width: "4.5rem", isNumber: true, cell: ({ nodes }) => nodes.toLocaleString("en") },
  { id: "size", head: "Size", width: "5rem", isNumber: true, cell: ({ size }) => bytes(size) },
  { id: "by", head: "Sent by", width: "7rem", cell: ({ by }) => by },
  { id: "created", head: "When", width: "6rem", cell: ({ created }) => <Time at={created} inRow /> },
];
