import type { ReactNode } from "react";

export default function RevisionsPage(): ReactNode {
  return null;
}
