import { Agent, request, type RequestOptions } from 'node:https';
import { parseArgs } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node';
import { brokenRules } from '../../src/adapters/manifests/manifest-kinds.js';
import { generateManifests, type GeneratedManifest } from './generate.js';

/* Whether validation gives the verdict of a real API server, for generated manifests (scripts/compare-validation.mjs). Creates
 * nothing: every request is a dry run, with strict validation of fields. Prints what differs; exits with 1 if anything does.
 */

const { values } = parseArgs({
  options: {
    kubeconfig: { type: 'string' },
    count: { type: 'string', default: '5000' },
    seed: { type: 'string', default: '1' },
  },
});
if (values.kubeconfig === undefined) throw new Error('give the API server: --kubeconfig FILE');
const config = new KubeConfig();
config.loadFromFile(values.kubeconfig);
const server = new URL(config.getCurrentCluster()!.server);
const common: RequestOptions = {};
await config.applyToHTTPSOptions(common);
common.agent = new Agent({
  keepAlive: true,
  maxSockets: 8,
  ca: common.ca,
  cert: common.cert,
  key: common.key,
  rejectUnauthorized: config.getCurrentCluster()!.skipTLSVerify !== true,
});

/** How often each pair of verdicts came. */
const counts = { accepted: 0, rejected: 0, onlyTheServer: 0, onlyWe: 0 };
const manifests = generateManifests(Number(values.count), Number(values.seed));
await Promise.all(
  Array.from({ length: 8 }, async () => {
    for (const manifest of manifests) await compare(manifest);
  }),
);
const { accepted, rejected, onlyTheServer, onlyWe } = counts;
console.log(
  `the same verdict for ${accepted + rejected} of ${values.count} (${accepted} accepted, ${rejected} rejected); ` +
    `${onlyTheServer} rejected by the API server only, ${onlyWe} by us only`,
);
process.exit(onlyTheServer + onlyWe === 0 ? 0 : 1);

async function compare({ path, kind, object }: GeneratedManifest): Promise<void> {
  const { status, message } = await create(path, object);
  const problems = brokenRules(kind, object).problems.map(({ field, what }) => `${field}: ${what}`);
  const taken = status < 300;
  if (!taken && status !== 400 && status !== 422) throw new Error(`unexpected answer ${status}: ${message}`);
  if (taken === (problems.length === 0)) {
    counts[taken ? 'accepted' : 'rejected']++;
    return;
  }
  counts[taken ? 'onlyWe' : 'onlyTheServer']++;
  console.log(
    `${JSON.stringify(object)}\n  API server: ${taken ? 'accepted' : message}\n  here: ${problems.join(', ') || 'valid'}`,
  );
}

async function create(path: string, object: object): Promise<{ status: number; message: string }> {
  const body = JSON.stringify(object);
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        ...common,
        host: server.hostname,
        port: server.port,
        path: `${path}?dryRun=All&fieldValidation=Strict`,
        method: 'POST',
        headers: {
          ...common.headers,
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
        },
      },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part: string) => (text += part));
        answer.on('end', () =>
          resolve({
            status: answer.statusCode!,
            message: (JSON.parse(text) as { message?: string }).message ?? '',
          }),
        );
      },
    );
    sent.on('error', reject).end(body);
  });
}
