import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { RELEASES } from '../support/api-server/release.js';

/** Releases that are supported; the one before is tested, too, since Endpoints are used there. */
const OLDEST = RELEASES[1];
const NEWEST = RELEASES.at(-1)!;

it.each([
  'README.md',
  'deploy/README.md',
  'deploy/base/kustomization.yaml',
  'docs/behavior/life-cycle.md',
  'docs/configuration/usage.md',
  'docs/install/README.md',
  'docs/clusters/k3s.md',
  'docs/install/kubeadm.md',
  'docs/clusters/managed.md',
  'docs/install/upgrading.md',
])('%s names the releases of Kubernetes that the source is tested with', (file) => {
  const ranges = readFileSync(file, 'utf8').match(/\b1\.\d+ to 1\.\d+\b/g);
  expect(new Set(ranges)).toEqual(new Set([`${OLDEST} to ${NEWEST}`]));
});

it('the chart can be installed at exactly these releases', () => {
  const { kubeVersion } = parse(readFileSync('deploy/chart/Chart.yaml', 'utf8')) as { kubeVersion: string };
  const [major, minor] = NEWEST.split('.');
  expect(kubeVersion).toBe(`>=${OLDEST}.0-0 <${major}.${Number(minor) + 1}.0-0`);
});
