import DefaultTheme from 'vitepress/theme';
import { Recording } from './recording.mjs';

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('Recording', Recording);
  },
};
