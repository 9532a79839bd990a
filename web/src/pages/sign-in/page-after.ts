/** Where somebody goes who has signed in: the page of this server that the query names, else the first. */
export function pageAfter(search: string): string {
  const wanted = new URLSearchParams(search).get("return") ?? "";
  // Two slashes, or one and a backslash, would name another server.
  return /^\/(?![/\\])/.test(wanted) && !wanted.startsWith("/sign-in") ? wanted : "/";
}
