/** An object in the form of kubectl's `-o name`. */
export function objectName(kind: 'node' | 'service', name: string): string {
  return `${kind}/${name}`;
}
