import { parseAllDocuments } from 'yaml';

const parsed = new Map<string, readonly unknown[]>();

/** The objects of a manifest. They are shared: a recorded state is asked for once in each mode, and for each family. */
export function parsedObjects<T>(yaml: string): readonly T[] {
  const known = parsed.get(yaml);
  if (known) return known as readonly T[];
  const documents = parseAllDocuments(yaml).map((document) => document.toJS() as T | null);
  const objects = documents.filter((object) => object !== null);
  parsed.set(yaml, objects);
  return objects;
}
