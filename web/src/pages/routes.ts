import type { ComponentType } from "react";

export interface PageProps {
  /** What stands in the address in place of `:names`. */
  params: Record<string, string>;
}

export interface Page {
  /** The address, with `:names`; `*` is all that follows. */
  path: string;
  /** Who is not signed in may see it. */
  isOpen?: boolean;
  load: () => Promise<{ default: ComponentType<PageProps> }>;
}

/** From address to page, the first that fits. Each page is a part of its own, loaded when it is opened. */
export const PAGES: readonly Page[] = [
  { path: "/", load: () => import("./ensembles/ensembles.tsx") },
  { path: "/sign-in", isOpen: true, load: () => import("./sign-in/sign-in.tsx") },
  { path: "/device", load: () => import("./device/device.tsx") },
  { path: "/e/:project/:ensemble/jobs", load: () => import("./ensemble-jobs/ensemble-jobs.tsx") },
  { path: "/e/:project/:ensemble/policies", load: () => import("./policies/policies.tsx") },
  { path: "/e/:project/:ensemble/plans", load: () => import("./plans/plans.tsx") },
  { path: "/e/:project/:ensemble/plans/:id", load: () => import("./plan/plan.tsx") },
  { path: "/e/:project/:ensemble/deploy", load: () => import("./ask/ask.tsx") },
  { path: "/e/:project/:ensemble/ask/:workflow", load: () => import("./ask/ask.tsx") },
  { path: "/e/:project/:ensemble/revisions", load: () => import("./revisions/revisions.tsx") },
  { path: "/p/:project/new", load: () => import("./ask/new.tsx") },
  { path: "/inbox", load: () => import("./inbox/inbox.tsx") },
  { path: "/e/:project/:ensemble", load: () => import("./ensemble/ensemble.tsx") },
  { path: "/e/:project/:ensemble/jobs/:job", load: () => import("./job/job.tsx") },
  { path: "/e/:project/:ensemble/jobs/:job/log", load: () => import("./log/log.tsx") },
  { path: "/jobs", load: () => import("./jobs/jobs.tsx") },
  { path: "/e/:project/:ensemble/source", load: () => import("./source/source.tsx") },
  { path: "/e/:project/:ensemble/settings", load: () => import("./settings/settings.tsx") },
  { path: "/packages", load: () => import("./packages/packages.tsx") },
  { path: "/p/:project/packages", load: () => import("./packages/packages.tsx") },
  { path: "/p/:project/packages/:digest", load: () => import("./packages/package.tsx") },
  { path: "/p/:project/settings", load: () => import("./project/project.tsx") },
  { path: "/admin", load: () => import("./admin/admin.tsx") },
  { path: "/me", load: () => import("./account/account.tsx") },
];
