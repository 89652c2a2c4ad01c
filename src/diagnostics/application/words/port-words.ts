/** `http TCP`, as terminals and the page name a port of a Service; it may have no name, or its protocol be unknown. */
export function portWords({ port, protocol }: { readonly port: string; readonly protocol: string }): string {
  return `${port || '(unnamed)'} ${protocol}`.trimEnd();
}
