import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release } from 'node:os';

/** Below the root of the project, in which `npm run bench` works. */
const FOLDER = 'bench/results';

/** Where and when a result was measured. */
export interface Circumstances {
  /** Of the day. */
  readonly date: string;
  readonly node: string;
  readonly linux: string;
  readonly processors: string;
  /** How many processes wanted a processor, on average over a quarter of an hour before the end. */
  readonly load: number;
  /** How often it was measured; the least of each figure counts. */
  readonly runs: number;
}

export type Stored<Row> = Row & { readonly measured: Circumstances };

/** The results that documents show. */
export function readResults<Row>(name: string): readonly Stored<Row>[] {
  const file = `${FOLDER}/${name}.json`;
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as readonly Stored<Row>[]) : [];
}

/** Those of now. */
export function circumstances(runs: number): Circumstances {
  const [processor] = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    linux: release(),
    processors: `${cpus().length} × ${processor?.model ?? 'CPU'}`,
    load: Number(loadavg()[2]!.toFixed(1)),
    runs,
  };
}

/** Stores results for documents, in the place of those of the same size. */
export function storeResults<Row extends { readonly services: number }>(
  name: string,
  rows: readonly Stored<Row>[],
): void {
  const others = readResults<Row>(name).filter(
    ({ services }) => !rows.some((row) => row.services === services),
  );
  const all = [...others, ...rows];
  all.sort((one, other) => one.services - other.services);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${FOLDER}/${name}.json`, `${JSON.stringify(all, undefined, 2)}\n`);
  console.error(`stored in ${FOLDER}/${name}.json`);
}
