import { REMOVED, redactedText, redactedValue } from '../../../src/diagnostics/domain/redaction.js';

const SECRET = 's3cr3t-Va1ue';
const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl';
const KEY = Buffer.from(`-----BEGIN RSA PRIVATE KEY-----\n${SECRET.repeat(9)}\n`).toString('base64');

it.each([
  `Authorization: Bearer ${SECRET}`,
  `{"level":"info","headers":{"Authorization":"Bearer ${SECRET}"}}`,
  `level=info msg="request" authorization="Bearer ${SECRET}"`,
  `authorization: Basic ${SECRET.replace('-', 'A')}`,
  `started with --token=${SECRET} --v=2`,
  `started with --token ${SECRET} --v 2`,
  `started with --bearer-token '${SECRET}'`,
  `    token: ${SECRET}\n`,
  `    token: "${SECRET}"\n`,
  `  password: two words ${SECRET}\n`,
  `  example.com/api-key: ${SECRET}\n`,
  `users:\n- user:\n    client-key-data: |\n      AAAA\n      ${SECRET}\n    name: x\n`,
  `    client-certificate-data: ${KEY}\n`,
  `    client-key-data: >-\n      ${KEY.slice(0, 64)}\n      ${SECRET}\n  other: 1`,
  `key ${KEY}`,
  `-----BEGIN EC PRIVATE KEY-----\n${SECRET}\n-----END EC PRIVATE KEY-----\n`,
  `-----BEGIN EC PRIVATE KEY-----\n${SECRET}\n`,
  `"-----BEGIN CERTIFICATE-----\\n${SECRET}\\n-----END CERTIFICATE-----"`,
  `env:\n- name: FOO\n  value: ${SECRET}\n`,
  `env:\n- name: FOO\n  value: |\n    a\n    ${SECRET}\n`,
  `GET https://user:${SECRET}@example.com/`,
  `{"a":"{\\"password\\":\\"${SECRET}\\"}"}`,
  `broken {"a":"{\\"password\\":\\"${SECRET}\\"}"`,
  `kubectl.kubernetes.io/last-applied-configuration: |\n      {"spec":"${SECRET}"}\n`,
  `{"kubectl.kubernetes.io/last-applied-configuration":"{\\"spec\\":\\"${SECRET}\\"}"`,
])('removes the secret of %j', (text) => {
  const redacted = redactedText(text);
  expect(redacted).not.toContain(SECRET);
  expect(redacted).not.toContain(SECRET.replace('-', 'A'));
  expect(redacted).toContain(REMOVED);
  expect(redactedText(redacted)).toBe(redacted);
});

it.each([JWT, `got ${JWT} from`, 'abcdef.0123456789abcdef'])('removes the token of %j', (text) => {
  expect(redactedText(text)).not.toMatch(/eyJ|abcdef/);
});

it.each([
  [
    'an annotation',
    { metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': SECRET } } },
  ],
  ['a Secret', { kind: 'Secret', metadata: { name: 'x' }, data: { any: SECRET }, stringData: { b: SECRET } }],
  [
    'variables',
    {
      env: [
        { name: 'FOO', value: SECRET },
        { name: 'BAR', valueFrom: { fieldRef: {} } },
      ],
    },
  ],
  ['variables as text', { env: [`FOO=${SECRET}`] }],
  ['variables as an object', { environment: { FOO: SECRET } }],
  ['arguments', { args: ['--token', SECRET, `--client-secret=${SECRET}`] }],
  ['a kubeconfig', { users: [{ user: { token: SECRET, 'client-key-data': SECRET, password: SECRET } }] }],
  ['a text', { data: { 'kubeconfig.conf': `users:\n- user:\n    token: ${SECRET}\n` } }],
  ['a list', { tokens: [SECRET] }],
])('removes the secrets of %s', (_, value) => {
  const redacted = JSON.stringify(redactedValue(value));
  expect(redacted).not.toContain(SECRET);
  expect(redacted).toContain(REMOVED);
});

it.each([
  'add rule ip kube-proxy services ip daddr 10.96.0.1 tcp dport 443 comment "shop/secret-store:http"',
  'shop/token:http is ready',
  '{"level":"info","service":"shop/token","message":"3 of 3 endpoints are ready"}',
  'kube_proxy_ts_service_ports{family="IPv4",service="shop/password"} 3',
  '    tokenFile: /var/run/secrets/kubernetes.io/serviceaccount/token',
  'mounted /var/run/secrets/kubernetes.io/serviceaccount from kube-api-access-x (ro)',
  'registry.example/kube-proxy-ts@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
  'the basic networking of node-1.example.com',
])('keeps %j', (text) => {
  expect(redactedText(text)).toBe(text);
});

it('keeps names and references', () => {
  const pod = {
    kind: 'Pod',
    spec: {
      automountServiceAccountToken: true,
      imagePullSecrets: [{ name: 'registry' }],
      volumes: [
        { secret: { secretName: 'x' } },
        { projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
      ],
      containers: [{ env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }] }],
    },
  };
  expect(redactedValue(pod)).toEqual(pod);
});

it('takes a time that grows with the length of the text', () => {
  const text = `${'token "'.repeat(20_000)}\n${'a-'.repeat(100_000)}\n${'x'.repeat(1_000_000)}`;
  expect(redactedText(text).length).toBeLessThan(text.length + 400_000);
});
