import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StandInApiServer } from './api-server.js';

/** How the user of a kubeconfig proves who it is. */
export type Identification =
  | { readonly token: string }
  | { readonly tokenFile: string }
  | { readonly exec: { readonly command: string; readonly args?: readonly string[] } }
  | 'client-certificate';

/** Writes a kubeconfig for the server into a new directory and answers the file's path. */
export async function writeKubeconfig(
  api: StandInApiServer,
  identification: Identification = { token: 'stand-in-token' },
): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
  const { authority, client } = api.certificates;
  await writeFile(join(directory, 'ca.crt'), authority);
  await writeFile(join(directory, 'client.crt'), client.certificate);
  await writeFile(join(directory, 'client.key'), client.key);
  const user = identification === 'client-certificate' ? certificateFiles : userOf(identification);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'stand-in', cluster: { server: api.url, 'certificate-authority': 'ca.crt' } }],
    users: [{ name: 'proxy', user }],
    contexts: [{ name: 'default', context: { cluster: 'stand-in', user: 'proxy' } }],
    'current-context': 'default',
  };
  const file = join(directory, 'kubeconfig');
  await writeFile(file, JSON.stringify(config, undefined, 2));
  return file;
}

const certificateFiles = { 'client-certificate': 'client.crt', 'client-key': 'client.key' };

function userOf(identification: Exclude<Identification, string>): object {
  if (!('exec' in identification)) return identification;
  return {
    exec: { apiVersion: 'client.authentication.k8s.io/v1', interactiveMode: 'Never', ...identification.exec },
  };
}
