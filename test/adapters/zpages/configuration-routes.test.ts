import { configurationRoutes } from '../../../src/adapters/zpages/configuration-routes.js';
import { Served } from '../../support/http/served.js';

let served: Served;

beforeEach(async () => {
  const configuration = () => ({ apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', mode: 'nftables' });
  served = await Served.start(configurationRoutes({ proxyMode: 'nftables', configuration }));
});

afterEach(() => served.stop());

describe('configurationRoutes', () => {
  it('names the mode, without a newline', async () => {
    const response = await served.get('/proxyMode');
    expect([response.status, await response.text()]).toEqual([200, 'nftables']);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('shows the configuration under its group', async () => {
    const response = await served.get('/configz');
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await response.json()).toEqual({
      'kubeproxy.config.k8s.io': { apiVersion: 'kubeproxy.config.k8s.io/v1alpha1', mode: 'nftables' },
    });
  });
});
