import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';

export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** An authority with a certificate for a server on 127.0.0.1 and localhost, or of a stand-in cluster, and one for a client; all PEM. */
export interface Certificates {
  readonly authority: string;
  readonly server: KeyPair;
  readonly client: KeyPair;
}

const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];

export async function makeCertificates(): Promise<Certificates> {
  const directory = await mkdtemp(join(tmpdir(), 'stand-in-'));
  const at = (name: string): string => join(directory, name);
  const openssl = (...args: string[]) => execa('openssl', args);
  await openssl(
    'req',
    '-x509',
    ...EC,
    '-subj',
    '/CN=stand-in-ca',
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.crt'),
  );

  const issue = async (name: string, subject: string, extensions: string): Promise<KeyPair> => {
    await writeFile(at(`${name}.ext`), extensions);
    await openssl(
      'req',
      ...EC.slice(0, -2),
      '-subj',
      subject,
      '-keyout',
      at(`${name}.key`),
      '-out',
      at(`${name}.csr`),
    );
    const authority = [
      '-CA',
      at('ca.crt'),
      '-CAkey',
      at('ca.key'),
      '-CAcreateserial',
      '-CAserial',
      at(`${name}.srl`),
    ];
    const files = ['-in', at(`${name}.csr`), '-out', at(`${name}.crt`), '-extfile', at(`${name}.ext`)];
    await openssl('x509', '-req', '-days', '2', ...authority, ...files);
    return {
      certificate: await readFile(at(`${name}.crt`), 'utf8'),
      key: await readFile(at(`${name}.key`), 'utf8'),
    };
  };
  const [server, client] = await Promise.all([
    issue(
      'server',
      '/CN=stand-in',
      'subjectAltName=IP:127.0.0.1,IP:::1,IP:10.0.0.10,DNS:localhost,DNS:kind-control-plane,DNS:control-plane.example\nextendedKeyUsage=serverAuth\n',
    ),
    issue('client', '/O=system:nodes/CN=proxy', 'extendedKeyUsage=clientAuth\n'),
  ]);
  const authority = await readFile(at('ca.crt'), 'utf8');
  await rm(directory, { recursive: true });
  return { authority, server, client };
}

let shared: Promise<Certificates> | undefined;

/**
 * The certificates that the test files of a run share: new ones need five calls of openssl, each slow in a large process. They are
 * kept for one day.
 */
export function sharedCertificates(): Promise<Certificates> {
  shared ??= storedCertificates();
  return shared;
}

async function storedCertificates(): Promise<Certificates> {
  const file = join(tmpdir(), `stand-in-${new Date().toISOString().slice(0, 10)}.json`);
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Certificates;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const made = await makeCertificates();
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, JSON.stringify(made), { mode: 0o600 });
  await rename(draft, file);
  return made;
}
