#!json
{
  "eos": {
    "volumes": {},
    "workspaces": {
      "production/hello": {
        "digest": "916f24e304bd23c81a522c492d1c82a6e98abcad026753e12f875b51d3818f66",
        "token": "client",
        "files": {
          "terraform/environments/production/hello/main.tf": "b888f3d7974cb70922b58bf2a7fe5b24fa6641c252d54f5db05741cee38f8ce9",
          "terraform/environments/production/hello/terraform.tfvars.json": "00b51e5b35a5266ce8b4428bf027b3826701be35c824940c3d0c5c4e0df98345",
          "terraform/environments/production/hello/variables.tf": "e14a402a19ea1614446a5ae35a173dafe499f99560a58ad257980e137210efd7",
          "terraform/modules/hello/ec849909dc3d/hello.nomad.hcl": "69e0534c73e646fd55c6067170057bd6644d090c3c9cdcbb3281aef13eaa2bca",
          "terraform/modules/hello/ec849909dc3d/main.tf": "b30d0962676fc4120d6aa099a88dab3e2843ecdaab06397382259b9959bac76e",
          "terraform/modules/hello/ec849909dc3d/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hello/ec849909dc3d/variables.tf": "a450fabf90cddcf46a2752f484826273335234936ee4ba786bdf9da6ff709968"
        },
        "hosts": [],
        "secrets": []
      },
      "production/platform": {
        "digest": "979cd0b5839e33386add654a9eac64a64302808cb8e58792c691af37fac367b2",
        "token": "management",
        "files": {
          "terraform/environments/production/platform/main.tf": "89fae863ace655cdacab5501715a1520428308fce5521bccc62937de6eb1b3c5",
          "terraform/environments/production/platform/terraform.tfvars.json": "c7f521a02c3c45f11f60542f98f963d998680142c21cd31a79f33772b61db441",
          "terraform/environments/production/platform/variables.tf": "391d4eeeb216c825ea8e31470bd522d8babb2f5cf6236991bd08a49db9b58043",
          "terraform/modules/platform/4c09b8f9a47a/main.tf": "633209d1852a200d671e5e977c22ef6e5e41c54159e56db7fd83146c04435b63",
          "terraform/modules/platform/4c09b8f9a47a/outputs.tf": "47161ba1b19970fcda7bfdfe4180ce68335bd5820b192b224c3eca96c81b4b48",
          "terraform/modules/platform/4c09b8f9a47a/variables.tf": "391d4eeeb216c825ea8e31470bd522d8babb2f5cf6236991bd08a49db9b58043"
        },
        "hosts": [],
        "secrets": []
      },
      "staging/hello": {
        "digest": "722700687e4fe7b3cad1b62c0f7df6e5fc5daa69808f8a2629c8c22741e90369",
        "token": "client",
        "files": {
          "terraform/environments/staging/hello/main.tf": "b888f3d7974cb70922b58bf2a7fe5b24fa6641c252d54f5db05741cee38f8ce9",
          "terraform/environments/staging/hello/terraform.tfvars.json": "ae9c6431534eb71dd9b32ae8306f78ec0a6162907129ed36d3899d557be5c438",
          "terraform/environments/staging/hello/variables.tf": "e14a402a19ea1614446a5ae35a173dafe499f99560a58ad257980e137210efd7",
          "terraform/modules/hello/ec849909dc3d/hello.nomad.hcl": "69e0534c73e646fd55c6067170057bd6644d090c3c9cdcbb3281aef13eaa2bca",
          "terraform/modules/hello/ec849909dc3d/main.tf": "b30d0962676fc4120d6aa099a88dab3e2843ecdaab06397382259b9959bac76e",
          "terraform/modules/hello/ec849909dc3d/outputs.tf": "81aa0bc1bee96bd89db0f0fa97260338284627edf7e3315be7e6dffc003c1133",
          "terraform/modules/hello/ec849909dc3d/variables.tf": "a450fabf90cddcf46a2752f484826273335234936ee4ba786bdf9da6ff709968"
        },
        "hosts": [],
        "secrets": []
      },
      "staging/platform": {
        "digest": "287a720a88cdadfa7b7072b322664b8268d078a507e75bd9535e5c38862cbc05",
        "token": "management",
        "files": {
          "terraform/environments/staging/platform/main.tf": "89fae863ace655cdacab5501715a1520428308fce5521bccc62937de6eb1b3c5",
          "terraform/environments/staging/platform/terraform.tfvars.json": "252f986352ff7ad8094f38b18ffd65a34fe5903d28908127e842665a5a650088",
          "terraform/environments/staging/platform/variables.tf": "391d4eeeb216c825ea8e31470bd522d8babb2f5cf6236991bd08a49db9b58043",
          "terraform/modules/platform/4c09b8f9a47a/main.tf": "633209d1852a200d671e5e977c22ef6e5e41c54159e56db7fd83146c04435b63",
          "terraform/modules/platform/4c09b8f9a47a/outputs.tf": "47161ba1b19970fcda7bfdfe4180ce68335bd5820b192b224c3eca96c81b4b48",
          "terraform/modules/platform/4c09b8f9a47a/variables.tf": "391d4eeeb216c825ea8e31470bd522d8babb2f5cf6236991bd08a49db9b58043"
        },
        "hosts": [],
        "secrets": []
      }
    }
  }
}
