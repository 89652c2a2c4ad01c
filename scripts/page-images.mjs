/**
 * Makes the images of the page in docs/images: `node scripts/page-images.mjs`, as root, after `npm run build`. It runs the proxy in a
 * network namespace of its own, with Debian's chromium beside it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { objectsOf } from './page-images/cluster.mjs';

const NAMESPACE = 'kubeproxy-images';
const ADDRESS = 'http://127.0.0.1:10249/';
const DESK = { width: 960, height: 600 };
const IMAGES = [
  { name: 'overview', place: '', shown: '#activity', colorScheme: 'light', viewport: DESK },
  {
    name: 'service',
    place: '#/service/shop/cart',
    shown: '.traffic',
    colorScheme: 'dark',
    viewport: { width: 960, height: 780 },
  },
  {
    name: 'trace',
    place: '#/trace?from=outside&to=shop/catalog',
    shown: '.steps li',
    colorScheme: 'light',
    viewport: DESK,
  },
  {
    name: 'services',
    place: '#/services',
    shown: 'td.name a',
    colorScheme: 'dark',
    viewport: { width: 390, height: 640 },
  },
];
const ROUNDS = 60;
/** The endpoints of shop/cart that answer. */
const PODS = ['10.244.2.10', '10.244.3.10'];

const inNamespace = (...command) => ['netns', 'exec', NAMESPACE, ...command];
const ip = (...args) => {
  const { status, stderr } = spawnSync('ip', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`);
};

const folder = mkdtempSync(join(tmpdir(), 'kubeproxy-images-'));
const manifests = join(folder, 'manifests');
const place = (text) => {
  writeFileSync(join(folder, 'next'), text);
  renameSync(join(folder, 'next'), `${manifests}.json`);
};

ip('netns', 'add', NAMESPACE);
let proxy;
let traffic;
let browser;
try {
  ip(...inNamespace('ip', 'link', 'set', 'lo', 'up'));
  ip(...inNamespace('sysctl', '-q', '-w', 'net.ipv4.ip_forward=1'));
  for (const address of ['198.51.100.17', ...PODS])
    ip(...inNamespace('ip', 'address', 'add', address, 'dev', 'lo'));
  ip(...inNamespace('ip', 'route', 'add', 'default', 'dev', 'lo', 'src', '198.51.100.17'));
  place(objectsOf(0));
  proxy = spawn('ip', [
    ...inNamespace(process.execPath, 'dist/kubeproxy.js', '--manifests', `${manifests}.json`),
    ...['--proxy-mode', 'nftables', '--hostname-override', 'node-17', '--cluster-cidr', '10.244.0.0/16'],
    ...['--conntrack-max-per-core', '0', '--conntrack-tcp-timeout-established', '0'],
    ...['--conntrack-tcp-timeout-close-wait', '0'],
  ]);
  const executablePath = join(folder, 'chromium');
  writeFileSync(executablePath, `#!/bin/sh\nexec ip netns exec ${NAMESPACE} chromium "$@"\n`);
  chmodSync(executablePath, 0o755);
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  await sleep(2_000);
  traffic = spawn(
    'ip',
    inNamespace(process.execPath, 'scripts/page-images/traffic.mjs', '10.96.0.10', ...PODS),
  );
  for (let round = 1; round <= ROUNDS; round++) {
    place(objectsOf(round));
    await sleep(150);
  }
  for (const { name, place: hash, shown, ...options } of IMAGES) {
    const page = await browser.newPage(options);
    await page.goto(ADDRESS + hash);
    await page.locator(shown).first().waitFor();
    await sleep(4_000);
    await page.screenshot({ path: `docs/images/page-${name}.png` });
  }
} finally {
  await browser?.close();
  proxy?.kill();
  traffic?.kill();
  rmSync(folder, { recursive: true });
  await sleep(500);
  ip('netns', 'delete', NAMESPACE);
}
