import { displayName, serviceKey, servicePortKey } from '../../../src/domain/model/service-port-name.js';

it('names service ports as kube-proxy does, and distinguishes protocols by key', () => {
  const dns = { namespace: 'kube-system', name: 'dns', port: 'dns', protocol: 'UDP' } as const;
  expect(serviceKey('kube-system', 'dns')).toBe('kube-system/dns');
  expect(displayName(dns)).toBe('kube-system/dns:dns');
  expect(displayName({ ...dns, port: '' })).toBe('kube-system/dns');
  expect(servicePortKey(dns)).toBe('kube-system/dns/udp/dns');
  expect(servicePortKey({ ...dns, protocol: 'TCP' })).not.toBe(servicePortKey(dns));
});
