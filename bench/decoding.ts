import { gzipSync } from 'node:zlib';
import type { ResourceKind } from '../src/application/ports/cluster-source.js';
import type { Encoding } from '../src/adapters/kubernetes/encoding/encoding.js';
import { jsonEncoding } from '../src/adapters/kubernetes/encoding/json-encoding.js';
import { protobufEncoding } from '../src/adapters/kubernetes/encoding/protobuf-encoding.js';
import { encodeObject } from '../test/support/api-server/protobuf.js';
import { endpointSlice, service } from './cluster.js';
import { stored } from './stored.js';

const RUNS = 7;
/** As they come from a TLS connection. Bytes. */
const CHUNK = 16 * 1024;

/** What is measured of one encoding. */
interface DecodingCost {
  readonly bytes: number;
  readonly gzipped: number;
  /** Processor time of the first decoding in the process, which also compiles, and the least of the later ones. Milliseconds. */
  readonly first: number;
  readonly least: number;
}

/** Bytes and processor time of lists of Services and EndpointSlices in both encodings, as a table in Markdown. */
export function decodingTable(services: number, endpoints: number): string {
  const lists = [
    listOf('Service', 'v1', services, (index) => stored(service(index))),
    listOf('EndpointSlice', 'discovery.k8s.io/v1', services, (index) =>
      stored(endpointSlice(index, endpoints)),
    ),
  ];
  const json = cost(
    jsonEncoding,
    lists.map((list) => Buffer.from(JSON.stringify(list))),
  );
  const protobuf = cost(
    protobufEncoding,
    lists.map((list) => encodeObject(list)!),
  );
  const rows = [
    ['encoding', 'bytes', 'gzipped', 'decoding, first', 'decoding, later'],
    ['---', '--:', '--:', '--:', '--:'],
    ['JSON', ...cells(json)],
    ['protobuf', ...cells(protobuf)],
  ];
  return rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
}

const KINDS: readonly ResourceKind[] = ['Service', 'EndpointSlice'];

function cost(encoding: Encoding, bodies: readonly Buffer[]): DecodingCost {
  const runs = Array.from({ length: RUNS }, () => decodeAll(encoding, bodies));
  return {
    bytes: sum(bodies.map(({ length }) => length)),
    gzipped: sum(bodies.map((body) => gzipSync(body, { level: 4 }).length)),
    first: runs[0]!,
    least: Math.min(...runs.slice(1)),
  };
}

/** Milliseconds of processor time. */
function decodeAll(encoding: Encoding, bodies: readonly Buffer[]): number {
  const before = process.cpuUsage();
  for (const [index, body] of bodies.entries()) {
    const decoder = encoding.listDecoder(KINDS[index]!, {
      add() {},
      addUnreadable({ problem }) {
        throw new Error(problem);
      },
    });
    for (let at = 0; at < body.length; at += CHUNK) decoder.push(body.subarray(at, at + CHUNK));
    decoder.end();
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function listOf(
  kind: ResourceKind,
  apiVersion: string,
  size: number,
  item: (index: number) => object,
): Readonly<Record<string, unknown>> {
  return {
    kind: `${kind}List`,
    apiVersion,
    metadata: { resourceVersion: '900000' },
    items: Array.from({ length: size }, (_, index) => item(index)),
  };
}

function cells({ bytes, gzipped, first, least }: DecodingCost): string[] {
  return [megabytes(bytes), megabytes(gzipped), `${Math.round(first)} ms`, `${Math.round(least)} ms`];
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
