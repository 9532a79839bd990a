import type { ReactNode } from "react";

import { useTitle } from "../../api/use.ts";
import { useChosen } from "../../parts/chosen.ts";
import { Empty } from "../../parts/empty.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { useMe } from "../../shell/me.ts";
import { Audit } from "./audit.tsx";
import { Groups } from "./groups.tsx";
import { Projects } from "./projects.tsx";
import { ServerState } from "./server.tsx";
import { Users } from "./users.tsx";
import "./admin.css";

const TABS = [
  { id: "users", label: "Users", needs: "administer", of: Users },
  { id: "groups", label: "Groups", needs: "administer", of: Groups },
  { id: "projects", label: "Projects", needs: "administer", of: Projects },
  { id: "audit", label: "Audit", needs: "audit", of: Audit },
  { id: "server", label: "Server", needs: "administer", of: ServerState },
] as const;

/** Page 9: what concerns the whole server. */
export default function AdminPage(): ReactNode {
  useTitle("Administration");
  const me = useMe();
  const tabs = TABS.filter(({ needs }) => me.server.includes(needs));
  const [wanted, choose] = useChosen("tab", tabs[0]?.id);
  const chosen = tabs.find(({ id }) => id === wanted) ?? tabs[0];
  return (
    <>
      <div className="page-head">
        <h1>Administration</h1>
      </div>
      {chosen ? (
        <Tabs label="Administration" tabs={tabs} chosen={chosen.id} onChoose={choose}>
          <chosen.of />
        </Tabs>
      ) : (
        <Empty title="This is for administrators and auditors">
          <p className="muted">
            It needs the permission <code>administer</code> or <code>audit</code>, which an administrator of the server
            gives.
          </p>
        </Empty>
      )}
    </>
  );
}
