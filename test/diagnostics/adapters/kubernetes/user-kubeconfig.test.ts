import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { userKubeconfig } from '../../../../src/diagnostics/adapters/kubernetes/user-cluster.js';

let home: string;
const at = (name: string): string => join(home, name);
const config = (current: string | undefined, ...contexts: readonly string[]): string =>
  JSON.stringify({ 'current-context': current, contexts: contexts.map((name) => ({ name })) });

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'user-'));
  await writeFile(at('a'), config('one', 'one'));
  await writeFile(at('b'), config('two', 'two', 'three'));
  await writeFile(at('none'), '');
});
afterEach(() => rm(home, { recursive: true }));

const chosen = (kubeconfig: string | undefined, context?: string) =>
  userKubeconfig(context, { KUBECONFIG: kubeconfig }, home);

it('is ~/.kube/config when KUBECONFIG names none', async () => {
  expect(await chosen(undefined)).toBeUndefined();
  await mkdir(at('.kube'));
  await writeFile(at('.kube/config'), config('one', 'one'));
  expect(await chosen(undefined)).toBe(at('.kube/config'));
  expect(await chosen('')).toBe(at('.kube/config'));
});

it('is the file that KUBECONFIG names', async () => {
  expect(await chosen(at('b'))).toBe(at('b'));
  expect(await chosen(at('absent'))).toBeUndefined();
});

it('is, of several, the one with the context', async () => {
  const several = ['absent', 'none', 'a', 'b'].map(at).join(':');
  expect(await chosen(several)).toBe(at('a'));
  expect(await chosen(several, 'three')).toBe(at('b'));
  await expect(chosen(several, 'four')).rejects.toThrow('no file has the context "four"');
});

it('says which file is no kubeconfig', async () => {
  await writeFile(at('broken'), '{');
  await expect(chosen(at('broken'))).rejects.toThrow(/broken: cannot read the kubeconfig/);
});
