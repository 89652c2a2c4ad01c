import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parse } from 'yaml';
import { errorMessage } from '../../../application/error-message.js';
import { KubeconfigError } from '../../../adapters/kubernetes/connection/connection.js';

type Environment = Readonly<Record<string, string | undefined>>;

interface Document {
  readonly 'current-context'?: unknown;
  readonly contexts?: readonly { readonly name?: unknown }[] | null;
}

/**
 * The kubeconfig of the user who runs a command, as for kubectl: from the files in KUBECONFIG, else `~/.kube/config`. Of several
 * files it is the first that has the context: the one asked for, else the first that any of them calls current. A context and what
 * it names must stand in one file. Undefined: the user has none.
 * @throws KubeconfigError if no file has that context
 */
export async function userKubeconfig(
  context: string | undefined,
  environment: Environment = process.env,
  home = homedir(),
): Promise<string | undefined> {
  const listed = (environment.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '');
  const files = listed.length > 0 ? listed : [join(home, '.kube', 'config')];
  const read = await Promise.all(files.map(async (file) => ({ file, document: await documentOf(file) })));
  const present = read.flatMap(({ file, document }) => (document ? [{ file, document }] : []));
  if (present.length <= 1) return present[0]?.file;
  const wanted = context ?? present.map(({ document }) => document['current-context']).find(Boolean);
  const holder = present.find(({ document }) => document.contexts?.some(({ name }) => name === wanted));
  if (holder) return holder.file;
  throw new KubeconfigError(
    files.join(delimiter),
    wanted === undefined ? 'no file has a current-context' : `no file has the context "${String(wanted)}"`,
    'choose one with --context',
  );
}

/** Undefined if there is no such file. */
async function documentOf(file: string): Promise<Document | undefined> {
  try {
    return (parse(await readFile(file, 'utf8')) as Document | null) ?? {};
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new KubeconfigError(file, `cannot read the kubeconfig (${errorMessage(error)})`, 'check the file', {
      cause: error,
    });
  }
}
