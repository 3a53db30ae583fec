{
  description = "Parallel disk-usage analyzer with exact totals";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs =
    { self, nixpkgs }:
    let
      inherit (nixpkgs) lib;
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      cargo = (lib.importTOML ./Cargo.toml).package;
    in
    {
      packages = lib.genAttrs systems (
        system:
        let
          pkgs = nixpkgs.legacyPackages.${system};
        in
        {
          default = pkgs.rustPlatform.buildRustPackage {
            pname = cargo.name;
            inherit (cargo) version;
            src = self;
            cargoLock.lockFile = ./Cargo.lock;
            nativeBuildInputs = [ pkgs.installShellFiles ];
            # The black-box tests need du, git and a terminal; these do not.
            cargoTestFlags = [ "--lib" ];
            postInstall = ''
              installManPage man/weigh.1
              installShellCompletion --cmd weigh \
                --bash completions/weigh.bash \
                --fish completions/weigh.fish \
                --zsh completions/_weigh
            '';
            meta = {
              inherit (cargo) description;
              license = with lib.licenses; [
                mit
                asl20
              ];
              mainProgram = "weigh";
            };
          };
        }
      );
    };
}
