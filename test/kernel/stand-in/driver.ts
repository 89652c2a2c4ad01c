import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StandInApiServer, type RecordedRequest } from '../../support/api-server/api-server.js';
import { makeCertificates } from '../../support/api-server/certificates.js';
import type { Failure } from '../../support/api-server/faults.js';
import { writeKubeconfig } from '../../support/api-server/kubeconfig.js';
import type { ApiObject } from '../../support/api-server/object-store.js';
import { serve } from '../../support/program/driver.js';

/** A stand-in API server inside a namespace. */
let api: StandInApiServer;
let kubeconfig: string;
const certificates = await makeCertificates();
const credential = (file: string): string => join(dirname(kubeconfig), file);

async function begin(): Promise<void> {
  api = await StandInApiServer.start(certificates);
  kubeconfig = await writeKubeconfig(api, { tokenFile: 'token' });
  await writeFile(credential('token'), 'stand-in-token');
}

async function end(): Promise<void> {
  await api.close();
  await rm(dirname(kubeconfig), { recursive: true, force: true });
}

await begin();

interface Offer {
  /** Whether clients that ask for protocol buffers get them. */
  readonly protobuf?: boolean;
  /** Whether a list may come as a stream; otherwise in pages only. */
  readonly streams?: boolean;
}

const handlers = {
  /** Another server, of an empty cluster. */
  async renew(): Promise<void> {
    await end();
    await begin();
  },
  kubeconfig: (): string => kubeconfig,
  url: (): string => api.url,
  requests: (): readonly RecordedRequest[] => api.requests,
  openWatches: (): number => api.openWatches,
  put(objects: readonly ApiObject[]): void {
    for (const object of objects) api.put(object);
  },
  patch(apiVersion: string, kind: string, name: string, patch: object): void {
    api.patch(apiVersion, kind, { name }, patch);
  },
  remove(apiVersion: string, kind: string, ...names: readonly string[]): void {
    for (const name of names) api.remove(apiVersion, kind, { name });
  },
  fail: (failure: Failure): void => api.faults.fail(failure),
  /** Milliseconds before each answer. */
  delay: (milliseconds: number): void => void (api.faults.delay = milliseconds),
  /** This cluster does not have a collection. */
  lack: (collection: string): void => void api.missing.add(collection),
  /** What it is able to do from now on: older servers speak less. */
  offer({ protobuf = api.speaksProtobuf, streams = api.streamsLists }: Offer): void {
    api.speaksProtobuf = protobuf;
    api.streamsLists = streams;
  },
  clearFaults: (): void => api.faults.clear(),
  disconnectWatches: (): void => api.disconnectWatches(),
  endWatches: (): void => api.endWatches(),
  /** All watches have to list anew. */
  expireWatches: (): void => api.expireWatches(),
  compact: (): void => api.compact(),
  /** The events that were posted. */
  events: (): readonly ApiObject[] => api.objects('events.k8s.io/v1', 'Event'),
  /** Only this token is let in from now on; the file that the kubeconfig names has it. */
  async rotateToken(token: string): Promise<void> {
    api.tokens = new Set([token]);
    await writeFile(credential('token'), token);
  },
  /** Authority and server certificate are others when it is opened again; the kubeconfig's file has the authority. */
  async rotateAuthority(): Promise<void> {
    await api.close();
    api.certificates = await makeCertificates();
    await writeFile(credential('ca.crt'), api.certificates.authority);
  },
  open: (): Promise<void> => api.open(),
  close: (): Promise<void> => api.close(),
};

export type StandInDriver = typeof handlers;

await serve(handlers, async () => {
  await end();
  // Answers that are still delayed are not waited for.
  process.exit(0);
});
