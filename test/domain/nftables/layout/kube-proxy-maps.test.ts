import {
  isBehindKubeProxyMaps,
  KUBE_PROXY_MAPS,
  MAP_OF_ANOTHER_LAYOUT,
  servicePortInVerdict,
} from '../../../../src/domain/nftables/layout/kube-proxy-maps.js';

it.each([
  ['goto service-I5LIAMPL-shop/cart/tcp/http', 'shop/cart/tcp/http'],
  ['goto local-I5LIAMPL-shop/cart/tcp/', 'shop/cart/tcp/'],
  ['goto external-I5LIAMPL-shop/cart/udp/http', 'shop/cart/udp/http'],
  ['goto firewall-I5LIAMPL-shop/cart/sctp/http', 'shop/cart/sctp/http'],
  ['goto endpoint-I5LIAMPL-shop/cart/tcp/http', undefined],
  ['goto service-I5LIAMP-shop/cart/tcp/http', undefined],
  ['jump service-I5LIAMPL-shop/cart/tcp/http', undefined],
  ['goto reject-chain', undefined],
  ['drop', undefined],
])('the verdict %j of kube-proxy names %s', (verdict, name) => {
  expect(servicePortInVerdict(verdict)).toBe(name);
});

it('its maps are those of frontends with an address and of node ports', () => {
  expect(KUBE_PROXY_MAPS.map(({ name }) => name)).toEqual([
    'service-ips',
    'no-endpoint-services',
    'firewall-ips',
    'service-nodeports',
    'no-endpoint-nodeports',
  ]);
  expect(MAP_OF_ANOTHER_LAYOUT).toBe('service-ips');
});

it.each([
  ['service-I5LIAMPL-shop/cart/tcp/http', true],
  ['affinity-I5LIAMPL-shop/cart/tcp/http__10.1.1.1/80', true],
  ['reject-chain', true],
  ['cluster-ips', false],
])('the chain or set %s belongs to its layout alone: %s', (name, is) => {
  expect(isBehindKubeProxyMaps(name)).toBe(is);
});
