import { environmentProxy } from '../../../../src/adapters/kubernetes/connection/server-url.js';

const PROXY = 'http://proxy.example:3128';

function proxyOf(server: string, environment: Record<string, string>): string | undefined {
  return environmentProxy(new URL(server), environment);
}

describe('the proxy of the environment', () => {
  it.each([
    ['https://api.example:6443', { HTTPS_PROXY: PROXY }, PROXY],
    ['https://api.example:6443', { https_proxy: PROXY }, PROXY],
    ['https://api.example:6443', { HTTPS_PROXY: PROXY, https_proxy: 'http://other.example' }, PROXY],
    ['https://api.example:6443', { HTTPS_PROXY: '', https_proxy: PROXY }, PROXY],
    ['https://api.example:6443', { HTTP_PROXY: PROXY }, undefined],
    ['https://api.example:6443', { ALL_PROXY: PROXY }, undefined],
    ['http://api.example:8080', { HTTP_PROXY: PROXY }, PROXY],
    ['http://api.example:8080', { http_proxy: PROXY }, PROXY],
    ['http://api.example:8080', { HTTPS_PROXY: PROXY }, undefined],
    ['https://api.example', {}, undefined],
    ['https://api.example', { HTTPS_PROXY: 'proxy.example:3128' }, PROXY],
    ['https://api.example', { HTTPS_PROXY: '192.0.2.9:3128' }, 'http://192.0.2.9:3128'],
    ['https://api.example', { HTTPS_PROXY: 'socks5://proxy.example' }, 'socks5://proxy.example'],
    ['https://api.example', { HTTPS_PROXY: ':' }, undefined],
  ])('%s with %j: %s', (server, environment, expected) => {
    expect(proxyOf(server, environment)).toBe(expected);
  });

  it.each(['https://localhost:6443', 'https://127.0.0.1:6443', 'https://127.8.9.1', 'https://[::1]:6443'])(
    'never leads to this host: %s',
    (server) => expect(proxyOf(server, { HTTPS_PROXY: PROXY })).toBeUndefined(),
  );

  it.each([
    ['*', 'https://api.example', false],
    ['other.example, *', 'https://api.example', false],
    ['api.example', 'https://api.example', false],
    ['API.Example', 'https://api.example', false],
    ['example', 'https://api.example', false],
    ['ample', 'https://api.example', true],
    ['.api.example', 'https://api.example', true],
    ['.example', 'https://api.example', false],
    ['*.example', 'https://api.example', false],
    ['*.api.example', 'https://api.example', true],
    ['api.example:6443', 'https://api.example:6443', false],
    ['api.example:6443', 'https://api.example', true],
    ['api.example:443', 'https://api.example', false],
    ['192.0.2.1', 'https://192.0.2.1:6443', false],
    ['192.0.2.1:6443', 'https://192.0.2.1:6443', false],
    ['192.0.2.1:443', 'https://192.0.2.1:6443', true],
    ['192.0.2.2', 'https://192.0.2.1', true],
    [' 10.0.0.0/8 , 192.0.2.0/24', 'https://192.0.2.1', false],
    ['192.0.3.0/24', 'https://192.0.2.1', true],
    ['192.0.2.0/24', 'https://api.example', true],
    ['2001:db8::1', 'https://[2001:db8::1]:6443', false],
    ['[2001:db8::1]:6443', 'https://[2001:db8::1]:6443', false],
    ['[2001:db8::1]:443', 'https://[2001:db8::1]:6443', true],
    ['2001:db8::/32', 'https://[2001:db8::1]', false],
    [',,:80,', 'https://api.example', true],
  ])('NO_PROXY %j, %s: through the proxy %s', (NO_PROXY, server, proxied) => {
    expect(proxyOf(server, { HTTPS_PROXY: PROXY, NO_PROXY }) !== undefined).toBe(proxied);
    expect(proxyOf(server, { HTTPS_PROXY: PROXY, no_proxy: NO_PROXY }) !== undefined).toBe(proxied);
  });
});
