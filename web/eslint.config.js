// Rules of `pnpm check`. Formatting is prettier's (`pnpm format`), types are the compiler's.
import hooks from "eslint-plugin-react-hooks";
import { defineConfig, globalIgnores } from "eslint/config";
import typescript from "typescript-eslint";

export default defineConfig(globalIgnores(["src/api/schema.d.ts", "public"]), typescript.configs.recommended, {
  plugins: { "react-hooks": hooks },
  linterOptions: { reportUnusedDisableDirectives: "error" },
  rules: {
    "react-hooks/rules-of-hooks": "error",
    "react-hooks/exhaustive-deps": "error",
    // a name that begins with _ is left out on purpose, such as a field that is not sent
    "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
    "@typescript-eslint/consistent-type-imports": ["error", { fixStyle: "inline-type-imports" }],
    "object-shorthand": "error",
    "no-useless-rename": "error",
    eqeqeq: ["error", "always", { null: "ignore" }],
  },
});
