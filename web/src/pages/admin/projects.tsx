import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import type { ProjectData } from "../../api/types.ts";
import { useChange, useLook } from "../../api/use.ts";
import { Action } from "../../parts/action.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Field } from "../../parts/form.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { Wait } from "../../parts/wait.tsx";

/** The projects of the server. */
export function Projects(): ReactNode {
  const projects = useLook("GET /projects", {}, { topics: ["audit"], when: (action) => action.startsWith("project.") });
  const make = useChange("POST /projects", ["GET /projects"]);
  const remove = useChange("DELETE /projects/{project}", ["GET /projects"]);
  const [isMaking, setMaking] = useState(false);
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [gone, setGone] = useState<ProjectData>();
  const columns: Column<ProjectData>[] = [
    {
      id: "name",
      head: "Name",
      width: "minmax(8rem, 1fr)",
      isName: true,
      cell: (one) => (
        <Link href={addressOf(one)} className="row-link">
          {one.name}
        </Link>
      ),
    },
    { id: "about", head: "Description", width: "minmax(10rem, 3fr)", cell: (one) => one.description },
    { id: "created", head: "Made", cell: ({ created }) => <Time at={created} inRow /> },
    {
      id: "do",
      head: "Actions",
      width: "6rem",
      cell: (one) => (
        <Action name={`Remove the project ${one.name}`} does={() => setGone(one)}>
          Remove
        </Action>
      ),
    },
  ];
  return (
    <section className="section">
      <div className="section-head">
        <p className="muted">A project has ensembles, packages, and members with roles.</p>
        <Action does={() => setMaking(true)}>New project</Action>
      </div>
      <Wait for={projects} title="The projects could not be read">
        {({ items }) =>
          items.length ? (
            <Table label="Projects" columns={columns} rows={items} keyOf={(one) => one.name} addressOf={addressOf} />
          ) : (
            <Empty title="There are no projects" />
          )
        }
      </Wait>
      {isMaking && (
        <Confirm
          title="New project"
          does="Make the project"
          onConfirm={() => make.mutateAsync({ body: { name, description } })}
          onClose={() => setMaking(false)}
        >
          <div className="form">
            <Field label="Name" hint="Small letters, digits and dashes, at most 63.">
              {(control) => (
                <input {...control} required autoFocus value={name} onChange={(event) => setName(event.target.value)} />
              )}
            </Field>
            <Field label="Description">
              {(control) => (
                <input {...control} value={description} onChange={(event) => setDescription(event.target.value)} />
              )}
            </Field>
          </div>
        </Confirm>
      )}
      {gone && (
        <Confirm
          title={`Remove the project ${gone.name}`}
          does="Remove"
          danger
          name={gone.name}
          onConfirm={() => remove.mutateAsync({ path: { project: gone.name } })}
          onClose={() => setGone(undefined)}
        >
          Only a project without ensembles can be removed. Its roles and accounts go with it.
        </Confirm>
      )}
    </section>
  );
}

function addressOf({ name }: ProjectData): string {
  return `/p/${name}/settings`;
}
