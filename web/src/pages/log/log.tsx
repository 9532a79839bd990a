import { type ReactNode, useEffect, useState } from "react";
import { Link } from "wouter";

import { useLook } from "../../api/use.ts";
import { useTopic } from "../../live/use.ts";
import { EnsemblePage, ensembleAddress, namedIn } from "../../parts/ensemble-head.tsx";
import { Status } from "../../parts/status.tsx";
import { Wait } from "../../parts/wait.tsx";
import { Downloads } from "../job/downloads.tsx";
import { headOf } from "../job/head.ts";
import type { PageProps } from "../routes.ts";
import { LogView } from "./log-part.tsx";

/** Page 5: what the operations of a job printed, alone. */
export default function LogPage({ params }: PageProps): ReactNode {
  const named = namedIn(params);
  const path = { ...named, job: params["job"] ?? "" };
  const route = "GET /projects/{project}/ensembles/{ensemble}/jobs/{job}";
  const found = useLook(route, { path, query: { most: 0, printed: false } });
  const answer = found.data;
  const head = answer && headOf(answer.data);
  const [hasEnded, setEnded] = useState(false);
  const topic = head && !head.isOver ? `job:${path.project}/${path.ensemble}/${head.job}` : "";
  useTopic(
    topic,
    answer?.cursor,
    ({ type }) => type === "job.finished" && setEnded(true),
    () => void found.refetch(),
  );
  useEffect(() => {
    // Its last event is told a moment before its record is there.
    if (!hasEnded || !topic) return undefined;
    const timer = setInterval(() => void found.refetch(), 1_000);
    return () => clearInterval(timer);
  }, [hasEnded, topic]);
  return (
    <EnsemblePage of={named} page={`Log of job ${path.job}`}>
      <Wait for={found} title="The job could not be read" lines={6}>
        {() =>
          head && (
            <div className="log-page">
              <div className="page-head">
                <h2>
                  Log of {head.workflow} <Link href={ensembleAddress(named, `jobs/${head.job}`)}>{head.job}</Link>
                </h2>
                <Status of={head.status} />
                <span className="page-head-end">
                  <Downloads of={{ ...path, job: head.job }} />
                </span>
              </div>
              <LogView of={{ ...path, job: head.job }} isOver={head.isOver} />
            </div>
          )
        }
      </Wait>
    </EnsemblePage>
  );
}
