import type { ReactNode } from "react";
import type { ProjectData } from "../api/types.ts";
import { useLook, useTitle } from "../api/use.ts";
import { Action, useUnable } from "./action.tsx";
import { LinkTabs } from "./tabs.tsx";
import { Wait } from "./wait.tsx";

interface ProjectPageProps {
  project: string;
  /** What this page of the project is called, as in "Packages". */
  page: string;
  children: (data: ProjectData) => ReactNode;
}

/** What stands around every page of a project: its name, its pages, and how an ensemble is made in it. */
export function ProjectPage({ project, page, children }: ProjectPageProps): ReactNode {
  useTitle(`${page} · ${project}`);
  const found = useLook("GET /projects/{project}", { path: { project } }, { topics: [`project:${project}`] });
  const unable = useUnable(found.data?.data.allowed, project);
  return (
    <>
      <div className="page-head">
        <h1>
          {project}
          <span className="unseen">, {page}</span>
        </h1>
        <span className="muted">{found.data?.data.description}</span>
        <span className="page-head-end">
          <Action does={`/p/${project}/new`} unable={unable("configure")}>
            New ensemble
          </Action>
        </span>
      </div>
      <LinkTabs
        label={`Pages of ${project}`}
        tabs={[
          { address: `/p/${project}/packages`, label: "Packages" },
          { address: `/p/${project}/settings`, label: "Settings" },
        ]}
      />
      <Wait for={found} title={`The project ${project} could not be read`}>
        {(data) => children(data)}
      </Wait>
    </>
  );
}
